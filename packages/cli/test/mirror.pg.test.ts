/** `deskwire mirror run`, `verify` and `repair`, at a service of their own; what follows and is stopped as a process. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@deskwire/sdk'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { duckDb } from '../../mirror/test/duckdb.ts'
import { plantedMessage } from '../../mirror/test/planted.ts'
import { testDatabase } from '../../testbed/database.ts'
import { eventually } from '../../testbed/eventually.ts'
import { deskwire, startDeskwire } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { mirrorCommand } from '../src/commands/mirror.ts'
import { repairCommand } from '../src/commands/repair.ts'
import { verifyCommand } from '../src/commands/verify.ts'
import { CommandFailure } from '../src/failure.ts'
import { dbtSources } from '../src/mirror/dbt.ts'
import { needing, readPlace } from '../src/mirror/place.ts'
import { exportNext } from '../src/mirror/series.ts'
import { batchText, createLoadBar, differencesText, loadText, troubleText } from '../src/mirror/show.ts'
import { UsageError } from '../src/usage-error.ts'
import { runHere } from './run-here.ts'

const shared = sharedService()
const directory = mkdtempSync(join(tmpdir(), 'deskwire-mirror-'))

afterAll(() => rmSync(directory, { recursive: true }))

async function desk() {
  const { token } = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
  const customer = await client.customers.create({ name: 'Ada' })
  for (const subject of ['One', 'Two', 'Three'])
    await client.tickets.create({ customerId: customer.id, subject })
  return { at: ['--url', shared().url, '--key', token], client, customer }
}

function sql(file: string, text: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file)
  try {
    return database.prepare(text).all()
  } finally {
    database.close()
  }
}

test('it loads, follows a line a batch, and is stopped; what somebody touches is found and repaired', async () => {
  const { at, client, customer } = await desk()
  const file = join(directory, 'copy.db')
  await using mirror = startDeskwire(['mirror', 'run', '--to', file, ...at])
  await eventually('it is exact', () => mirror.output.stdout.includes('is up to date'))
  await client.customers.update(customer.id, { name: 'Ada Lovelace' })
  await eventually('it is told', () => mirror.output.stdout.includes(' customer'))
  expect(await mirror.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
  expect(mirror.output.stdout).toMatch(
    /^4 rows loaded; the copy in \S+copy\.db is up to date; deskwire mirror verify compares what it holds\n\d{4}-\S+Z {2}1 customer\n$/,
  )
  expect(sql(file, 'select name from customers')).toEqual([{ name: 'Ada Lovelace' }])

  const good = await runHere(['mirror', 'verify', '--to', file, ...at])
  expect(good).toMatchObject({
    code: 0,
    stderr: '',
    stdout: `4 rows compared: the copy in ${file} is exact\n`,
  })
  sql(file, `update tickets set subject = 'Mangled' where subject = 'One'`)
  sql(file, `delete from tickets where subject = 'Two'`)
  const bad = await runHere(['mirror', 'verify', '--to', file, ...at])
  expect(bad).toMatchObject({ code: 3, stderr: '' })
  expect(bad.stdout).toMatch(/^ticket \S{36} {2}changed: subject$/m)
  expect(bad.stdout).toMatch(/^ticket \S{36} {2}missing$/m)
  expect(bad.stdout).toMatch(/^3 rows compared: 2 rows differ; deskwire mirror repair fetches those\n$/m)
  const repaired = await runHere(['mirror', 'repair', '--to', file, '--json', ...at])
  expect([repaired.code, JSON.parse(repaired.stdout)]).toEqual([
    0,
    { to: file, repaired: expect.any(Array), lost: [], quarantined: [] },
  ])
  expect(JSON.parse(repaired.stdout).repaired).toHaveLength(2)
  expect(sql(file, 'select subject from tickets order by number').map(({ subject }) => subject)).toEqual([
    'One',
    'Two',
    'Three',
  ])
})

test('files that commands make are for their user alone, from when they are made', async () => {
  const { at } = await desk()
  const place = join(directory, 'modes')
  mkdirSync(place)
  const path = (name: string) => join(place, name)
  const made = new Map<string, string>()
  // Files that are there for a moment alone, too: what is gone by now is passed over.
  const look = (name: string | null) => {
    const found = name === null ? undefined : statSync(path(name), { throwIfNoEntry: false })
    const closed = found === undefined || (found.mode & 0o077) === 0
    if (name !== null && (!made.has(name) || !closed)) made.set(name, closed ? 'closed' : 'open')
  }
  const watcher = watch(place, { recursive: true }, (_, name) => look(name))
  const files = duckDb ? ['a.db', 'a.duckdb'] : ['a.db']
  const mirrors = files.map((name) => startDeskwire(['mirror', 'run', '--to', path(name), ...at]))
  await Promise.all(
    mirrors.map((mirror) => eventually('it is exact', () => mirror.output.stdout.includes('is up to date'))),
  )
  for (const name of readdirSync(place)) look(name)
  expect([...made.keys()]).toEqual(
    expect.arrayContaining(
      files.flatMap((name) => [name, `${name}${name.endsWith('.db') ? '-wal' : '.wal'}`]),
    ),
  )
  await Promise.all(mirrors.map((mirror) => mirror.end('SIGINT')))

  const { host, port, user, database } = shared().database.connection
  const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`
  writeFileSync(path('in.csv'), 'email\nnope\n', { mode: 0o600 })
  const commands = [
    ['export', 'customers', '--out', path('out'), ...at],
    ['import', path('in.csv'), ...at],
    ['mirror', 'run', '--to', `${duckDb ? 'parquet' : 'ndjson'}:${path('export')}`, ...at],
    ['backup', 'create', path('a.backup'), '--database-url', url],
    ['listen', '--ca', '--dir', path('listen')],
  ]
  const ran = await Promise.all(commands.map((words) => deskwire(words)))
  expect(ran.map(({ code }) => code)).toEqual([0, 3, 0, 0, 0])
  for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' })) look(name)
  watcher.close()
  // A certificate is for those who are to trust it.
  const open = [...made].filter(
    ([name, mode]) => mode === 'open' && !name.startsWith(join('listen', 'ca.pem')),
  )
  expect(open).toEqual([])
  expect([...made.keys()]).toEqual(
    expect.arrayContaining(['out', 'in.rejects.csv', 'in.csv.progress.json', 'export', 'a.backup', 'listen']),
  )
})

test('--once and --json, into PostgreSQL with marks', async () => {
  const { at, client, customer } = await desk()
  await using database = await testDatabase({ template: null })
  const { host, port, user, database: name } = database.connection
  const address = `postgres://${user}:secret@${encodeURIComponent(host)}:${port}/${name}`
  const once = async (to: string, ...words: string[]) => {
    const ran = await runHere(['mirror', 'run', '--to', to, '--once', '--json', ...words, ...at])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    return ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  const [told] = await once(address, '--schema', 'desk', '--removals', 'mark')
  expect(told).toMatchObject({ type: 'up_to_date', loaded: 4 })
  // A password is printed nowhere.
  expect(told.to).toMatch(/^postgres:\/\/[^@]*$/)
  await client.customers.delete(customer.id)
  expect(await once(address, '--schema', 'desk')).toEqual([
    { type: 'batch', changes: { customer: 1, ticket: 3 }, asOf: expect.any(String) },
    expect.objectContaining({ type: 'up_to_date', loaded: 0 }),
  ])
  const verified = await runHere(['mirror', 'verify', '--to', address, '--schema', 'desk', '--json', ...at])
  expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([
    0,
    { exact: true, rows: { ticket: 0 } },
  ])
})

test('a selection is kept to by each command, and verify says how it compares', async () => {
  const { at, client, customer } = await desk()
  await client.customers.update(customer.id, { email: 'ada@example.com' })
  const file = join(directory, 'selected.db')
  const words = ['--kinds', 'customers, tickets', '--exclude', 'tickets.subject', '--hash', 'customers.email']
  let settings: Record<string, string> = {}
  const run = (...words: string[]) => runHere([...words, '--to', file, ...at], { settings })
  expect(await run('mirror', 'run', '--once', ...words)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DESKWIRE_HASH_KEY'),
  })
  settings = { DESKWIRE_HASH_KEY: 'a key of sixteen characters' }
  expect(await run('mirror', 'run', '--once', ...words)).toMatchObject({ code: 0, stderr: '' })
  sql(file, "update customers set email = 'eve@example.com'")
  expect((await run('mirror', 'repair')).stdout).toMatch(/^customer \S+ {2}changed: email\n1 row repaired/)
  const { code, stdout } = await run('mirror', 'verify')
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('exact; fetched, and compared as far as kept: customer, ticket'),
  ])
  const [held] = sql(file, 'select * from tickets limit 1')
  expect(Object.keys(held ?? {})).not.toContain('subject')
  const other = await run('mirror', 'run', '--once', '--no-body')
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('which cannot be changed') })
  expect(JSON.parse((await runHere(['mirror', 'status', '--json', '--to', file])).stdout)).toMatchObject({
    selection: { kinds: ['customers', 'tickets'] },
  })
})

test('status and metrics show rows, lag and the last comparison', async () => {
  const { at } = await desk()
  const file = join(directory, 'status.db')
  const status = async () => {
    const ran = await runHere(['mirror', 'status', '--to', file, '--json'])
    return { code: ran.code, ...JSON.parse(ran.stdout) }
  }
  await runHere(['mirror', 'run', '--to', file, '--once', ...at])
  expect(await status()).toMatchObject({ code: 0, isLoading: false, lagSeconds: expect.any(Number) })
  expect((await status()).kinds).toContainEqual({
    kind: 'ticket',
    rows: 3,
    lastChangeAt: expect.stringMatching(/Z$/),
    caughtUpAt: expect.stringMatching(/Z$/),
    verifiedAt: null,
    exact: null,
  })
  sql(file, "update tickets set subject = 'Eve' where subject = 'One'")
  await runHere(['mirror', 'verify', '--to', file, ...at])
  const after = await runHere(['mirror', 'status', '--to', file])
  expect(after.code).toBe(3)
  expect(after.stdout).toMatch(/^The copy in .* last matched the service \d+ s ago\nkind .*\n/)
  expect(after.stdout).toMatch(/^ticket +3 +\S+Z +differs \S+Z$/m)

  await using mirror = startDeskwire(['mirror', 'run', '--to', file, '--metrics', '0', ...at])
  await eventually('it listens', () => /Metrics: \S+\n/.test(mirror.output.stderr))
  const [, url = ''] = /Metrics: (\S+)/.exec(mirror.output.stderr) ?? []
  const text = await (await fetch(url)).text()
  expect(text).toContain('deskwire_mirror_rows{kind="ticket"} 3\n')
  expect(text).toContain('deskwire_mirror_exact{kind="ticket"} 0\n')
  expect(text).toMatch(/^deskwire_mirror_lag_seconds [\d.]+$/m)
  expect((await fetch(`${url}x`)).status).toBe(404)
  expect(await mirror.end('SIGINT')).toMatchObject({ code: 0 })
})

test('what a copy cannot hold or has not made is said, and leaves 3 or 1', async () => {
  const { at, client } = await desk()
  const id = await plantedMessage(shared().database.pool, client, '\\u0000')
  const file = join(directory, 'quarantine.db')
  const line = `message ${id}  quarantined: attachments holds U+0000 or half of a surrogate pair`
  for (const words of [
    ['mirror', 'run', '--once'],
    ['mirror', 'verify'],
    ['mirror', 'repair'],
  ]) {
    const ran = await runHere([...words, '--to', file, ...at])
    expect([words, ran.code, ran.stdout]).toEqual([words, 3, expect.stringContaining(line)])
    expect(ran.stdout).toContain('1 row quarantined: the tables lack what the store cannot hold')
  }
  const followed = await runHere(['mirror', 'run', '--once', '--json', '--to', file, ...at])
  expect(followed).toMatchObject({ code: 3, stderr: '' })
  expect(JSON.parse(followed.stdout.trimEnd().split('\n').at(-1) as string)).toMatchObject({
    type: 'quarantined',
    rows: [{ kind: 'message', id, text: expect.stringContaining('\\u0000') }],
  })

  const mine = join(directory, 'mine.db')
  sql(mine, 'create table customers (mine)')
  sql(mine, "insert into customers values ('precious')")
  const refused = await runHere(['mirror', 'run', '--once', '--to', mine, ...at])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^deskwire: There is a table or view customers that no mirror made/)
  expect(sql(mine, 'select * from customers')).toEqual([{ mine: 'precious' }])
})

test.each([
  ["delete from tickets where subject = 'One'", 0, /up to date/],
  [
    'alter table customers drop column name',
    1,
    /^deskwire: The copy's table customers was changed: name is missing/,
  ],
])('--once looks before it says anything: %s', async (change, code, says) => {
  const { at } = await desk()
  const file = join(directory, `looks-${code}.db`)
  await runHere(['mirror', 'run', '--once', '--to', file, ...at])
  sql(file, change)
  const ran = await runHere(['mirror', 'run', '--once', '--to', file, ...at])
  expect([ran.code, ran.stdout + ran.stderr]).toEqual([code, expect.stringMatching(says)])
  expect(ran.stdout).not.toContain('exact')
  if (code === 0) expect(ran.stderr).toContain('1 row repaired')
  expect((await runHere(['mirror', 'repair', '--to', file, ...at])).code).toBe(0)
  expect((await runHere(['mirror', 'verify', '--to', file, ...at])).code).toBe(0)
})

test.runIf(duckDb)('DuckDB is of one process for as long as it follows', async () => {
  const { at } = await desk()
  const file = join(directory, 'copy.duckdb')
  await using mirror = startDeskwire(['mirror', 'run', '--to', file, ...at])
  await eventually('it is exact', () => mirror.output.stdout.includes('is up to date'))
  await expect(verifyCommand.run(['--to', file, ...at])).rejects.toThrow(
    /is open in another process, and DuckDB lets one process at a time write/,
  )
  expect(await mirror.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' })
})

test('an export is written, and ends', async () => {
  const { at } = await desk()
  const out = join(directory, 'export')
  const ran = await runHere(['mirror', 'run', '--to', `ndjson:${out}`, ...at])
  expect(ran).toEqual({
    code: 0,
    stdout: `4 rows in ndjson:${out}, proved; manifest.json says as of where\n`,
    stderr: '',
  })
  expect(readFileSync(join(out, 'tickets.ndjson'), 'utf8').split('\n')).toHaveLength(4)
})

test('exports of a series are whole behind one link, and what others put there stays', async () => {
  const { at, client } = await desk()
  const lake = join(directory, 'lake')
  const { exportNdjson } = await import('@deskwire/mirror/ndjson')
  const next = (second: number, during = () => {}) =>
    exportNext(lake, new Date(Date.UTC(2026, 0, 1, 0, 0, second)), async (places) => {
      const manifest = await exportNdjson({ client, ...places })
      during()
      return manifest
    })
  const latest = () => readlinkSync(join(lake, 'latest'))
  const names = () => readdirSync(lake).filter((name) => name.startsWith('2026'))
  const tickets = () => readFileSync(join(lake, 'latest/tickets.ndjson'), 'utf8').split('\n').length - 1
  await next(1)
  expect([latest(), statSync(join(lake, latest())).mode & 0o777]).toEqual(['2026-01-01T00-00-01-000Z', 0o700])
  chmodSync(lake, 0o755)
  await client.tickets.create({
    customerId: (await client.customers.list().page()).data[0]?.id ?? '',
    subject: 'Four',
  })
  await next(2, () => expect([latest(), tickets()]).toEqual(['2026-01-01T00-00-01-000Z', 3]))
  expect([latest(), tickets()]).toEqual(['2026-01-01T00-00-02-000Z', 4])
  expect(statSync(join(lake, 'latest/tickets.ndjson')).mode & 0o777).toBe(0o644)
  const failing = next(3, () => {
    throw new Error('full')
  })
  await expect(failing).rejects.toThrow('full')
  expect(latest()).toBe('2026-01-01T00-00-02-000Z')
  writeFileSync(join(lake, '2026-01-01T00-00-01-000Z/mine'), '')
  // What failed, or was killed, before it was whole is no export, and goes.
  const half = (second: number, what: string) =>
    exportNext(lake, new Date(Date.UTC(2025, 0, 1, 0, 0, second)), async ({ directory }) => {
      mkdirSync(directory)
      writeFileSync(join(directory, 'customers.ndjson'), '')
      throw new Error(what)
    })
  await expect(half(1, 'full')).rejects.toThrow('full')
  expect(readdirSync(lake).filter((name) => name.startsWith('2025'))).toEqual([])
  mkdirSync(join(lake, '2027-01-01T00-00-00-000Z'))
  await next(4)
  expect(existsSync(join(lake, '2027-01-01T00-00-00-000Z'))).toBe(false)
  expect(names()).toEqual([1, 3, 4].map((n) => `2026-01-01T00-00-0${n}-000Z`))
  expect(readdirSync(join(lake, names()[0] as string))).toEqual(['mine'])

  const ran = join(directory, 'ran')
  const after = `printf '%s\\n' "$DESKWIRE_MIRROR" >> ${ran}; exit $(($(wc -l < ${ran}) % 2))`
  await using series = startDeskwire([
    'mirror',
    'run',
    '--to',
    `ndjson:${lake}`,
    '--every',
    '1s',
    '--after',
    after,
    ...at,
  ])
  await eventually(
    'it has run again',
    () => readFileSync(ran, { encoding: 'utf8', flag: 'a+' }).split('\n').length > 3,
  )
  expect(await series.end('SIGTERM')).toMatchObject({ code: 0 })
  expect(series.output.stderr).toMatch(
    /^--after: the command failed with exit code 1\. Trying again in 1\.0 s\.$/m,
  )
  expect(readFileSync(ran, 'utf8')).toContain(`${join(lake, latest())}\n`)
})

test.runIf(duckDb)('a copy that is brought up to date every second is closed meanwhile', async () => {
  const { at, client, customer } = await desk()
  const file = join(directory, 'every.duckdb')
  await using mirror = startDeskwire(['mirror', 'run', '--to', file, '--every', '1s', ...at])
  await eventually('it is there', () => mirror.output.stdout.includes('is up to date'))
  await client.customers.update(customer.id, { name: 'Ada Lovelace' })
  await eventually('it has read the change', () => mirror.output.stdout.includes(' customer'))
  await eventually('another process reads it', async () => {
    const { code, stdout } = await runHere(['mirror', 'status', '--to', file])
    return code === 0 && /^customer +1 /m.test(stdout)
  })
  expect(await mirror.end('SIGTERM')).toMatchObject({ code: 0 })
})

test('the tables of a copy are sources of dbt', async () => {
  const { at } = await desk()
  const file = join(directory, 'sources.db')
  await runHere(['mirror', 'run', '--to', file, '--once', '--kinds', 'tickets', ...at])
  const { code, stdout } = await runHere(['mirror', 'dbt', '--to', file])
  expect(code).toBe(0)
  const { version, sources } = parse(stdout)
  expect([version, sources.length, sources[0]]).toMatchObject([
    2,
    1,
    {
      name: 'deskwire',
      database: 'sources',
      schema: 'main',
      tables: [{ name: 'tickets' }, { name: '_deskwire_status' }],
    },
  ])
  const [tickets, status] = sources[0].tables
  expect(tickets.columns[0]).toEqual({
    name: 'id',
    description: expect.any(String),
    data_tests: ['unique', 'not_null'],
  })
  expect(status.config).toEqual({
    loaded_at_field: 'caught_up_at',
    freshness: { warn_after: { count: 2, period: 'hour' }, error_after: { count: 24, period: 'hour' } },
  })
  if (duckDb) {
    const odd = join(directory, 'main.x.duckdb')
    await runHere(['mirror', 'run', '--to', odd, '--once', '--kinds', 'tickets', ...at])
    const { stdout } = await runHere(['mirror', 'dbt', '--to', odd])
    expect(parse(stdout).sources[0]).toMatchObject({ database: 'main_db', schema: 'main' })
  }
  const table = { name: 'a', comment: '{{ env_var("SECRET") }}\n"', columns: [], marksRemovals: false }
  const text = dbtSources({ schema: 'deskwire' }, [table], table)
  expect(parse(text).sources[0]).not.toHaveProperty('database')
  expect(parse(text).sources[0].tables[0].description).toBe('{ { env_var("SECRET") }}\n"')
})

test.each([
  [[], 'mirror needs --to: postgres://'],
  [['--to', 'copy.txt'], '"copy.txt" is not accepted; there are postgres://'],
  [['--to', 'copy.db', '--schema', 'x'], '--schema goes with postgres:// alone'],
  [['--to', 'copy.db', '--removals', 'keep'], '"keep" is not accepted; there are delete and mark'],
  [['--to', 'ndjson:out', '--removals', 'mark'], '--removals goes with a copy'],
  [['--to', 'copy.db', '--exclude', ','], '--exclude needs names'],
  [['--to', 'ndjson:out', '--adopt'], '--adopt goes with a copy'],
  [['--to', 'copy.db', '--every', '1y'], '"1y" is not accepted; write a whole number'],
  [['--to', 'copy.db', '--every', '1h', '--once'], '--every goes without --once and --metrics'],
  [['--to', 'copy.db', '--after', 'true'], '--after goes with --once, --every or an export'],
  [['--to', 'ndjson:out', '--history'], '--history goes with a copy'],
  [['--to', 'ndjson:out', '--strings'], '--strings goes with parquet:DIR alone'],
  [['--to', 'copy.db'], 'mirror needs a service and a key'],
])('%j is refused', async (words, why) => {
  const refusal: Error = await mirrorCommand.run(words).then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )
  expect(refusal).toBeInstanceOf(UsageError)
  expect(refusal.message).toContain(why)
})

test('no copy is begun to be verified, and an export is no copy', async () => {
  const { at } = await desk()
  const none = join(directory, 'none.db')
  await expect(verifyCommand.run(['--to', none, ...at])).rejects.toThrow(`there is no copy in ${none}`)
  sql(none, 'create table mine (x)')
  await expect(verifyCommand.run(['--to', none, ...at])).rejects.toThrow(`there is no copy in ${none}`)
  const { host, port, user, database } = shared().database.connection
  const server = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`
  for (const { run } of [verifyCommand, repairCommand])
    await expect(run(['--to', server, ...at])).rejects.toThrow(/^there is no copy in postgres:/)
  const schemas = "select 1 from pg_namespace where nspname = 'deskwire'"
  expect((await shared().database.pool.query(schemas)).rows).toEqual([])
  await expect(verifyCommand.run(['--to', 'parquet:out', ...at])).rejects.toThrow(UsageError)
})

test('a client that is not installed is one line that says what to install', async () => {
  const missing = () => import('@deskwire/no-such-client' as string)
  const refusal: Error = await needing('@duckdb/node-api', missing).then(
    () => expect.unreachable('it was there'),
    (error) => error,
  )
  expect(refusal).toBeInstanceOf(CommandFailure)
  expect(refusal.message).toMatch(/not installed here: npm install @duckdb\/node-api \(.*\)$/)
  const broken = async () => Promise.reject(new TypeError('another fault'))
  await expect(needing('x', broken)).rejects.toThrow(new TypeError('another fault'))
})

test('a place is known by what it looks like', () => {
  const kinds = [
    'postgresql://u:p@h:5432/d',
    'postgres://u:p@/d?host=/run/postgresql',
    'postgres:///d?host=%2Frun',
    'a.db',
    'a.sqlite',
    'a.sqlite3',
    'a.duckdb',
    'a.ddb',
    'parquet:a',
  ]
  expect(kinds.map((to) => readPlace('mirror', { to })).map(({ type, name }) => [type, name])).toEqual([
    ['copy', 'postgres://h:5432/d'],
    ['copy', 'postgres:///d'],
    ['copy', 'postgres:///d'],
    ...['a.db', 'a.sqlite', 'a.sqlite3', 'a.duckdb', 'a.ddb'].map((name) => ['copy', name]),
    ['export', 'parquet:a'],
  ])
})

test('what is shown while it loads, and of what happens', () => {
  expect(loadText({ rows: 370_000, total: 1_000_000 }, 81_200.4)).toBe(
    '[########················]  37 %  370,000 of 1,000,000 rows, 81,200/s, 8 s left',
  )
  expect(loadText({ rows: 0, total: 10_000_000 }, 1_000)).toMatch(/, 2 h 46 min left$/)
  expect(loadText({ rows: 0, total: 200_000 }, 1_000)).toMatch(/, 3 min 20 s left$/)
  expect(loadText({ rows: 0, total: 10 }, 0)).toBe('[························]   0 %  0 of 10 rows, 0/s')
  const [written, plain]: [string[], string[]] = [[], []]
  let now = 0
  const screenOf = (isTTY: boolean, into: string[]) => {
    const add = (text: string) => void into.push(text)
    return { isTTY, write: add, line: isTTY ? add : () => {} }
  }
  const bar = createLoadBar(screenOf(true, written), () => now)
  bar.update({ rows: 5_000, total: 10_000 })
  now = 1_000
  bar.update({ rows: 6_000, total: 10_000 })
  bar.end()
  // What was there before this run says nothing of its speed.
  expect(written.at(-2)).toMatch(/6,000 of 10,000 rows, 1,000\/s, 4 s left$/)
  expect(written.at(-1)).toBe('')
  const none = createLoadBar(screenOf(false, plain), () => now)
  none.update({ rows: 1, total: 2 })
  none.end()
  expect(plain).toEqual([])

  const asOf = '2026-01-31T09:30:00.000Z'
  expect(batchText({ changes: { ticket: 2_000, customer: 1 }, asOf })).toBe(
    `${asOf}  2,000 tickets, 1 customer`,
  )
  const error = new Error('Nobody answers.')
  expect(troubleText({ type: 'unavailable', error, pauseMs: 1_500 })).toBe(
    'Nobody answers. Trying again in 1.5 s.',
  )
  expect(troubleText({ type: 'restored' })).toMatch(/went back to a backup/)
  const differences = Array.from({ length: 22 }, (_, n) => ({
    kind: 'ticket',
    id: `${n}`,
    type: 'missing' as const,
    columns: [],
  }))
  expect(troubleText({ type: 'repaired', differences })).toMatch(/: 22 rows repaired\.$/)
  expect(differencesText(differences).split('\n').slice(-3)).toEqual([
    'ticket 19  missing',
    'and 2 more: --json has all',
    '',
  ])
})

test('what the place of a copy refuses is one line that names it', async () => {
  const { at, client, customer } = await desk()
  const [file, taken] = [join(directory, 'ruled.db'), join(directory, 'directory.db')]
  mkdirSync(taken)
  await runHere(['mirror', 'run', '--to', file, '--once', ...at])
  sql(file, 'create table mine (customer text references customers (id))')
  sql(file, 'insert into mine select id from customers')
  await using database = await testDatabase()
  const { host, port, user, database: name } = database.connection
  const server = `postgres://${user}@/${name}?host=${encodeURIComponent(host)}&port=${port}`
  await runHere(['mirror', 'run', '--to', server, '--once', ...at])
  await database.pool.query('create table mine (customer uuid references deskwire.customers (id))')
  await database.pool.query('insert into mine select id from deskwire.customers')
  await client.customers.delete(customer.id)
  const inNone = join(directory, 'none', 'a.duckdb')
  for (const words of [
    ['mirror', 'run', '--once', '--to', file],
    ['mirror', 'repair', '--to', file],
    ['mirror', 'run', '--once', '--to', server],
    ['mirror', 'run', '--once', '--to', taken],
    ['mirror', 'run', '--once', '--to', join(directory, 'none', 'a.db')],
    ['mirror', 'run', '--once', '--to', server.replace(name, 'no_database')],
    ['mirror', 'run', '--once', '--to', server.replace(`//${user}@`, '//nobody@')],
    ...(duckDb ? [['mirror', 'run', '--once', '--to', inNone]] : []),
  ]) {
    const ran = await runHere([...words, ...at])
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(
      /^deskwire: \S+ refused what the copy needs, and was not changed by it: [^\n]+\n$|^deskwire: SQLite: [^\n]+\n$/,
    )
  }
})
