/** Several databases by name, from DESKWIRE_DATABASES: listed in the variable itself, or in a file that it names. */
import { readFile } from 'node:fs/promises'

export interface NamedDatabase {
  readonly name: string
  readonly url: string
  /** The same database without the pooler at `url`; null without one. */
  readonly directUrl: string | null
}

export type DatabasesSetting = { readonly file: string } | { readonly databases: readonly NamedDatabase[] }

/** The list or its file is invalid; the message says why, and what is accepted. */
export class DatabasesError extends Error {}

export const databasesSetting = 'DESKWIRE_DATABASES'

export const acceptedDatabases =
  'the path of a file with a line for each database, NAME URL and, past a pooler, a second URL; or such lines themselves, with ; between them'

const hasUrl = /^\s*(?:#.*\n\s*)*\S+\s+postgres(?:ql)?:\/\//

/** The parsed setting; undefined when it is neither a list nor a path. */
export function parseDatabases(text: string): DatabasesSetting | undefined {
  if (!hasUrl.test(text)) return /\S/.test(text) && !text.includes('://') ? { file: text } : undefined
  const databases = databasesIn(text)
  return typeof databases === 'string' ? undefined : { databases }
}

/** The databases of the setting, first the one with the directory. @throws DatabasesError */
export async function readDatabases(setting: DatabasesSetting): Promise<readonly NamedDatabase[]> {
  if ('databases' in setting) return setting.databases
  const file = JSON.stringify(setting.file)
  const text = await readFile(setting.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new DatabasesError(
      `${databasesSetting}: ${file} cannot be read (${error.code}); it must be ${acceptedDatabases}`,
    )
  })
  const databases = databasesIn(text)
  if (typeof databases !== 'string') return databases
  throw new DatabasesError(`${databasesSetting}: in ${file}, ${databases}`)
}

/** The databases in these lines, or an error without URLs, which can contain passwords. */
function databasesIn(text: string): readonly NamedDatabase[] | string {
  const databases: NamedDatabase[] = []
  for (const [n, line] of text.split(/[\n;]/).entries()) {
    const words = line.trim().split(/\s+/)
    const [name = '', url = '', directUrl, ...more] = words
    if (name === '' || name.startsWith('#')) continue
    const where = `line ${n + 1}`
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(name))
      return `${where} begins with no name: a lower-case letter, then letters, digits, - or _, 63 at most`
    if (more.length > 0 || !isDatabaseUrl(url) || (directUrl !== undefined && !isDatabaseUrl(directUrl)))
      return `${where} must be NAME URL, or NAME URL URL past a pooler, with URLs that begin with postgres:// or postgresql://`
    if (databases.some((other) => other.name === name)) return `${where} has the name ${name} once more`
    if (databases.some((other) => other.url === url)) return `${where} has the URL of another line`
    databases.push({ name, url, directUrl: directUrl ?? null })
  }
  return databases.length === 0 ? 'no line names a database' : databases
}

/** The URL of a socket has no host before the path (`postgres://user@/database?host=/run/postgresql`). */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@socket/'))
}
