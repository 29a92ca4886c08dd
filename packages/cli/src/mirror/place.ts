/** Where `--to` points: a store for a copy, or a directory for an export. Its client is loaded when it is named. */
import { parse } from 'node:path'
import type { Mirror, Store } from '@deskwire/mirror'
import type { DuckDbStore } from '@deskwire/mirror/duckdb'
import type { ExportManifest } from '@deskwire/mirror/ndjson'
import type { ParquetOptions } from '@deskwire/mirror/parquet'
import { clientFlags, clientOf, requireTarget } from '../client.ts'
import { CommandFailure } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { UsageError } from '../usage-error.ts'

/** The flags that say where a copy is, for the help of each such command; `also`: further places. */
export const copyHelp = (
  also = '',
) => `  --to PLACE             postgres://USER@HOST/DATABASE, FILE.db (SQLite) or FILE.duckdb${also}
  --schema NAME          of PostgreSQL: the schema of the tables; default: deskwire
`

export type Place =
  | {
      readonly type: 'copy'
      /** As it may be printed: without a password. */
      readonly name: string
      /** Where a client of the database finds the tables of the open store. */
      relation(store: Store): { readonly database?: string; readonly schema: string }
      store(): Promise<Store>
    }
  | {
      readonly type: 'export'
      readonly name: string
      readonly form: 'ndjson' | 'parquet'
      readonly directory: string
      /** Into `directory` unless the options name another. */
      write(options: Omit<ParquetOptions, 'directory'> & { directory?: string }): Promise<ExportManifest>
    }

const accepted =
  'postgres://USER@HOST/DATABASE, FILE.db, FILE.sqlite or FILE.duckdb for a copy, and ndjson:DIR or parquet:DIR for an export'

/** @throws UsageError */
export function readPlace(command: string, given: { to?: string; schema?: string }): Place {
  const { to, schema } = given
  if (to === undefined || to === '') throw new UsageError(`${command} needs --to: ${accepted}`)
  const isPostgres = /^postgres(ql)?:\/\//.test(to)
  if (schema !== undefined && !isPostgres) throw new UsageError('--schema goes with postgres:// alone')
  if (isPostgres) {
    // By a socket: `postgres://USER@/DATABASE?host=/DIRECTORY` has no host where `URL` wants one.
    const bySocket = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/
    const url = URL.parse(to.replace(bySocket, '$1localhost'))
    if (url === null) throw new UsageError('--to: what is given is no address of PostgreSQL')
    const { pathname } = url
    const host = bySocket.test(to) ? '' : url.host
    const store = async () => {
      const { PostgresStore } = await needing('pg pg-copy-streams', () => import('@deskwire/mirror/postgres'))
      return new PostgresStore({ connection: to, ...(schema === undefined ? {} : { schema }) })
    }
    const relation = () => ({ schema: schema ?? 'deskwire' })
    return { type: 'copy', name: `postgres://${host}${pathname}`, relation, store }
  }
  const [, form, directory] = /^(ndjson|parquet):(.+)$/.exec(to) ?? []
  if (directory !== undefined) {
    const write = async (options: Omit<ParquetOptions, 'directory'> & { directory?: string }) => {
      const all = { directory, ...options }
      if (form === 'ndjson') return (await import('@deskwire/mirror/ndjson')).exportNdjson(all)
      const { exportParquet } = await needing('@duckdb/node-api', () => import('@deskwire/mirror/parquet'))
      return exportParquet(all)
    }
    return { type: 'export', name: to, form: form === 'ndjson' ? form : 'parquet', directory, write }
  }
  if (/\.(db|sqlite3?)$/.test(to)) {
    const store = async () => new (await import('@deskwire/mirror/sqlite')).SqliteStore({ file: to })
    return { type: 'copy', name: to, relation: () => ({ database: parse(to).name, schema: 'main' }), store }
  }
  if (/\.(duckdb|ddb)$/.test(to)) {
    const store = async () => {
      const { DuckDbStore } = await needing('@duckdb/node-api', () => import('@deskwire/mirror/duckdb'))
      return new DuckDbStore({ file: to, rewrites: true })
    }
    const relation = (open: Store) => ({ database: (open as DuckDbStore).databaseName, schema: 'main' })
    return { type: 'copy', name: to, relation, store }
  }
  throw new UsageError(`--to: ${JSON.stringify(to)} is not accepted; there are ${accepted}`)
}

/** Where a copy is. @throws UsageError, also for an export. */
export function readCopy(command: string, given: { to?: string; schema?: string }) {
  const place = readPlace(command, given)
  if (place.type === 'copy') return place
  throw new UsageError(
    `${command} needs a copy: an export is of one moment, and its manifest.json has the proof`,
  )
}

/** The secret of hashed fields; not a flag, as others on the machine see those. */
export const hashKey = () => process.env.DESKWIRE_HASH_KEY || undefined

/** The store of a copy that is there already, open. @throws CommandFailure when there is no copy. */
export async function openCopy(place: Place & { type: 'copy' }): Promise<Store> {
  const [store, { hasCopy }] = [await place.store(), await import('@deskwire/mirror')]
  if (await hasCopy(store)) return store
  await store.close()
  throw new CommandFailure(`there is no copy in ${place.name}: deskwire mirror run --to makes one`)
}

/**
 * What a mirror expects to go wrong, and what its store refuses, as one line for the user; any other error is
 * returned as it is.
 */
export async function explained(error: unknown, { name }: Pick<Place, 'name'>): Promise<unknown> {
  const { MirrorError, StoreUnavailable, WriteRefused } = await import('@deskwire/mirror')
  if (error instanceof MirrorError || error instanceof StoreUnavailable)
    return new CommandFailure(error.message)
  if (error instanceof WriteRefused)
    return new CommandFailure(
      `${name} refused what the copy needs, and was not changed by it: ${error.message} Then run the command again.`,
    )
  if (!(error instanceof Error) || !isOfStore(error)) return error
  return new CommandFailure(
    `${name} refused what the copy needs, and was not changed by it: ${error.message.split('\n', 1)[0]}. Look at the address and at the permissions of its place; then run the command again.`,
  )
}

/** SQLite, PostgreSQL and the file system mark their errors; DuckDB begins each message with its class. */
function isOfStore(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_SQLITE_ERROR' || 'severity' in error || 'path' in error) return true
  return /^[A-Z][\w ]* Error: /.test(error.message) || isOfStore(error.cause)
}

/** Runs `work` on the copy that the command line names, and closes it. */
export async function withCopy<T>(
  command: string,
  args: readonly string[],
  work: (mirror: Mirror) => Promise<T>,
): Promise<{ json: boolean; place: string; result: T }> {
  const { texts, switches } = parseFlags(args, {
    texts: ['to', 'schema', ...clientFlags],
    switches: ['json'],
  })
  const place = readCopy(command, texts)
  const client = clientOf(requireTarget(command, texts))
  try {
    const store = await openCopy(place)
    const { Mirror } = await import('@deskwire/mirror')
    const mirror = new Mirror({ client, store, hashKey: hashKey() })
    try {
      return { json: switches.json === true, place: place.name, result: await work(mirror) }
    } finally {
      await mirror.close()
    }
  } catch (error) {
    throw await explained(error, place)
  }
}

/** What `load` loads. @throws CommandFailure that says what to install, where it is not there. */
export async function needing<T>(packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Of the client itself, or of the part of it that is for this machine.
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    if (!isMissing) throw error
    throw new CommandFailure(
      `this needs a client that is not installed here: npm install ${packages} (${message.split('\n')[0]})`,
    )
  }
}
