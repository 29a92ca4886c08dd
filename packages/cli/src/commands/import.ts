import { clientFlags, clientHelp, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { checkRows } from '../import/check.ts'
import { importFile } from '../import/import-file.ts'
import type { Counts } from '../import/progress.ts'
import { count, createShow, rowsText } from '../import/show.ts'
import { type Source, type Survey, survey } from '../import/survey.ts'
import { isExport } from '../import/transfer/exported.ts'
import { runTransfer } from '../import/transfer/run.ts'
import { kindNamed, plurals } from '../kinds.ts'
import { printError, printOut, screen } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const importCommand: Command = {
  words: () => ['zendesk', 'intercom'],
  help: () => `deskwire import FILE: create or update a row for each line of a CSV file (UTF-8, the first line names the columns), or of a
file of JSON objects, one a line (FILE.ndjson or FILE.jsonl).

  --kind KIND            what the rows are (customers): ${plurals.join(', ')}
  --delimiter CHARACTER  the one between values, or "tab". Default: the one of a first line like sep=; otherwise a comma
  --ignore COLUMN,…      columns or fields to leave out
  --history              take rows with their past, such as createdAt, without events; needs the scope import
  --duplicates last      take a file that has an externalId twice: its later line changes the row again
  --again                create rows without externalId that an earlier import of the file, within a day, has created
  --dry-run              check every line, send nothing, write nothing
  --json                 print the summary as one JSON object
${clientHelp}
Columns are named like the fields of the API. tags are separated by ; or |; customAttributes.NAME is a value of your own,
text unless the name ends in :number or :boolean. An empty cell leaves its field out. A line with a cell that is no such number or
boolean, or that would be rounded, is rejected.

With a column externalId, rows are found by it: those that are there are changed, the others created. A line of JSON is found by it if
it has one. Rows without are created. The same file with the same options and key creates none of them again within a day: they are
"replayed", also those deleted since, unless you give --again.

With --history, rows also have createdAt, and customerExternalId or conversationExternalId instead of an id; rows whose externalId is
there stay as they are.

An import that was interrupted goes on when it is run again: FILE.csv.progress.json says where. The command reports refused
lines with their numbers and writes them to a new file, FILE.rejects.csv or FILE.rejects-2.csv and so on, with a column "error" that an
import of that file leaves out.

deskwire import DIRECTORY moves an organization: DIRECTORY is an export of deskwire mirror run --to ndjson:DIRECTORY, or has files of
deskwire export such as customers.ndjson. It creates what is missing in the organization of the key, which needs all scopes, without
events, and compares all of it at the end. A row without externalId gets deskwire-ID. Rows that are there stay as they are.

Exit codes: 0 when every line was imported; 3 when some were rejected, the others imported; 1 when it stopped, as the
message says: run it again; 2 when the command or the header is not accepted, and nothing was sent; 130 when interrupted: run it again.

Accounts of Zendesk and Intercom have commands of their own: deskwire import zendesk, deskwire import intercom.

Example:
  deskwire import customers.csv --url http://127.0.0.1:8080/v1 --key dwk_… --dry-run
`,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['kind', 'delimiter', 'duplicates', 'ignore', ...clientFlags],
      switches: ['again', 'dry-run', 'history', 'json'],
      words: 1,
    })
    const [path] = words
    if (path === undefined) throw new UsageError('import needs a file')
    if (await isExport(path)) {
      refuseFor(path, { ...texts, again: switches.again, history: switches.history })
      const target = switches['dry-run'] ? null : requireTarget('import', texts)
      await runTransfer(path, target, switches.json === true)
      return
    }
    const kind = kindNamed(texts.kind ?? 'customers')
    const ignored = (texts.ignore ?? '').split(',').filter((name) => name !== '')
    const delimiter = texts.delimiter === undefined ? null : readDelimiter(texts.delimiter)
    const { again = false, history = false } = switches
    const allowsDuplicates = readDuplicates(texts.duplicates, history)
    const source = { path, delimiter, ignored, history, again, allowsDuplicates }
    const begun = performance.now()
    const known = { file: path, kind: kind.plural }
    const found = await survey(kind, source)
    for (const warning of found.warnings) printError(`warning: ${warning}\n`)
    if (allowsDuplicates && found.matched === 0)
      throw new UsageError('--duplicates is for rows with an externalId, and the file has none')
    if (again && found.others === 0)
      throw new UsageError('--again is for rows without externalId, and the file has none')
    if (switches['dry-run']) {
      const counts = await rehearse(source, found)
      const { rows, rejected } = counts
      if (switches.json) printJson({ ...known, dryRun: true, rows, matched: found.matched, rejected })
      else printOut(`${rowsText(rows)} checked, ${count(rejected)} would be rejected\n${foundBy(found)}`)
      if (counts.rejected > 0) process.exitCode = exitCodes.found
      return
    }
    const target = requireTarget('import', texts)
    const done = await importFile(kind, source, target, found)
    const seconds = Number(((performance.now() - begun) / 1_000).toFixed(3))
    const { operation, resumedAt, rejects } = done
    if (switches.json)
      printJson({ ...known, operation, matched: found.matched, ...done.counts, rejects, resumedAt, seconds })
    else printOut(summary(done.counts, rejects, seconds) + foundBy(found))
    if (done.counts.rejected > 0) process.exitCode = exitCodes.found
  },
}

/** How rows are found, where not all are found alike. */
function foundBy({ matched, others }: Survey): string {
  if (matched === 0 || others === 0) return ''
  return `${rowsText(matched)} found by externalId; ${rowsText(others)} without one, to be created\n`
}

async function rehearse(source: Source, found: Survey): Promise<Counts> {
  const show = createShow(screen, { total: found.rows, done: 0, now: () => performance.now() })
  const counts = await checkRows(source, found, show.update)
  show.end()
  return counts
}

/** An export says by itself what it holds, and a repetition of it is always safe. */
function refuseFor(path: string, { url, key, profile, ...others }: Readonly<Record<string, unknown>>): void {
  const [name] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (name !== undefined) throw new UsageError(`--${name} does not go with ${path}, which is an export`)
}

function readDuplicates(text: string | undefined, history: boolean): boolean {
  if (text === undefined) return false
  if (text !== 'last')
    throw new UsageError(`--duplicates: ${JSON.stringify(text)} is not accepted; it must be last`)
  if (history)
    throw new UsageError(
      '--duplicates last: rows with their past are not changed; leave one line of each in the file',
    )
  return true
}

function readDelimiter(text: string): string {
  if (text === 'tab' || text === '\\t') return '\t'
  if (/^[^"\r\n]$/u.test(text)) return text
  throw new UsageError(
    `--delimiter: ${JSON.stringify(text)} is not accepted; it must be one character, such as ; or "tab"`,
  )
}

function summary(counts: Counts, rejects: string | null, seconds: number): string {
  const { rows, created, updated, unchanged, replayed, rejected } = counts
  const parts = Object.entries({ created, updated, unchanged, replayed, rejected }).filter(
    ([name, number]) => number > 0 || (name === 'created' && rows === 0),
  )
  const what = parts.map(([name, number]) => `${count(number)} ${name}`).join(', ')
  const where =
    rejects === null
      ? ''
      : `The rejected lines are in ${rejects}: correct them there, and import that file.\n`
  const earlier =
    replayed === 0
      ? ''
      : `Replayed: an import of this file has created ${rowsText(replayed)} within the last day. Those deleted since are not there: --again creates all anew.\n`
  return `${rowsText(rows)} in ${seconds.toFixed(1)} s: ${what}\n${earlier}${where}`
}

function printJson(value: object): void {
  printOut(`${JSON.stringify(value)}\n`)
}
