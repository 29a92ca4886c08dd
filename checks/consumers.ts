/**
 * `npm run check -- consumers`: runs the consumers of docs/guides/consumers as they are written. They read a desk
 * before and after changes and removals, and each copy is compared with the service row by row.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BatchAnswer, type Client, createClient } from '../packages/sdk/src/index.ts'
import { newToken } from '../packages/service/src/auth/token.ts'
import { kinds } from '../packages/service/src/desk/index.ts'
import { blockWith } from '../packages/testbed/document-programs.ts'
import { deskwire } from '../packages/testbed/services.ts'
import { installPython } from '../tools/python.ts'
import { report } from './report.ts'
import { logged, startApi } from './service-process.ts'

type Row = Readonly<Record<string, unknown>>
/** Rows by table and id. */
type Copy = Map<string, Map<string, Row>>

const root = fileURLToPath(new URL('..', import.meta.url))
const consumers = join(root, 'docs/guides/consumers')
const dltBin = installPython('deskwire-consumers-dlt', 'checks/consumers/dlt.txt')
const airbyteBin = installPython('deskwire-consumers-airbyte', 'checks/consumers/airbyte.txt')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-consumers-'))
const key = newToken()
const data = join(scratch, 'data')
let service = await startApi(data, key)
const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: key })

try {
  const dlt = dltReader()
  const readers = [dlt, airbyteReader()]
  await fill(client)
  await compareAll('the first sync')
  await changeAndRemove(client)
  await compareAll('changes and removals')
  await compareAll('nothing new')
  report(`dlt, ${dlt.python('tamper.py').trim()}`, true)
  reportErrors(service)
  await service.end('SIGTERM')
  await deskwire(['backup', 'mark-restored', '--data-dir', data])
  service = await startApi(data, key)
  report(`dlt, ${dlt.python('restored.py').trim()}`, true)
  reportErrors(service)

  async function compareAll(what: string): Promise<void> {
    const expected = await everything(client)
    for (const { name, read, asTheyHaveIt } of readers) {
      const differences = compare(expected, read(), asTheyHaveIt)
      const rows = [...expected.values()].reduce((sum, table) => sum + table.size, 0)
      report(
        `${name}, ${what}: ${rows} rows, ${differences.length === 0 ? 'all alike' : differences.slice(0, 5).join('; ')}`,
        differences.length === 0,
      )
    }
  }
} finally {
  await service.end('SIGTERM')
  rmSync(scratch, { recursive: true, force: true })
}

function reportErrors(of: typeof service): void {
  const errors = logged(of)
  for (const line of errors) console.error(line)
  if (errors.length > 0) process.exitCode = 1
}

/** Some hundred rows of every kind, more than a page of each. */
async function fill({
  customers,
  conversations,
  messages,
  tickets,
  bookings,
  teammates,
}: Client): Promise<void> {
  const made = async (answer: Promise<BatchAnswer>) =>
    (await answer).data.map((item) => {
      if (item.outcome === 'refused') throw new Error(item.problem.detail)
      return item.id
    })
  const each = <T>(count: number, item: (n: number) => T) => Array.from({ length: count }, (_, n) => item(n))
  const [assigneeId] = await made(teammates.batch(each(3, (n) => ({ name: `Teammate ${n}` }))))
  const who = await made(
    customers.batch(
      each(150, (n) => ({
        name: `Customer ${n} "ü" 𝄞`,
        ...(n % 2 === 0 ? { email: `c${n}@example.com`, tags: ['a', 'b,c'] } : {}),
        ...(n % 3 === 0 ? { customAttributes: { plan: 'pro', seats: n, trial: n % 2 === 0 } } : {}),
      })),
    ),
  )
  const of = (n: number) => who[n % who.length] as string
  const talks = await made(
    conversations.batch(each(120, (n) => ({ customerId: of(n), channel: 'email' as const }))),
  )
  await messages.batch(
    each(300, (n) => ({
      conversationId: talks[n % talks.length] as string,
      direction: 'inbound' as const,
      author: { type: 'customer' as const },
      body: `Hello ${n}\n\t"\\`,
      attachments: [
        { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: n, url: 'https://example.com/a' },
      ],
    })),
  )
  await tickets.batch(
    each(250, (n) => ({
      customerId: of(n),
      subject: `No. ${n}`,
      ...(n % 4 === 0 ? { assigneeId: assigneeId as string } : {}),
    })),
  )
  await bookings.batch(
    each(110, (n) => ({
      customerId: of(n),
      title: `Visit ${n}`,
      startAt: '2026-12-01T09:00:00.000Z',
      endAt: '2026-12-01T10:00:00.000Z',
      timezone: 'Europe/Berlin',
    })),
  )
}

/** Deletions with their consequences, changes, and rows that exist only between two loads. */
async function changeAndRemove({ customers, tickets, conversations }: Client): Promise<void> {
  const some = await customers.list().toArray({ limit: 60 })
  for (const { id } of some.slice(0, 30)) await customers.delete(id)
  for (const { id } of some.slice(30))
    await customers.update(id, { company: 'Analytical Engines', tags: ['changed'] })
  for (const { id } of await tickets.list().toArray({ limit: 20 })) await tickets.delete(id)
  for (const { id } of await tickets.list().toArray({ limit: 100 }))
    await tickets.update(id, { assigneeId: null })
  for (const { id } of await conversations.list().toArray({ limit: 10 })) await conversations.resolve(id)
  const { id } = await customers.create({ name: 'Comes and goes' })
  await customers.delete(id)
  await customers.create({ name: 'Stays' })
}

/** All rows of the service. */
async function everything(from: Client): Promise<Copy> {
  const copy: Copy = new Map()
  for (const { plural } of kinds) {
    const table = new Map<string, Row>()
    for await (const page of from[plural as 'customers'].sync({ limit: 100 }))
      for (const change of page.changes)
        if (change.type === 'upsert') table.set(change.row.id, { ...change.row })
    copy.set(plural, table)
  }
  return copy
}

interface Reader {
  readonly name: string
  /** Runs it once more, and reads its copy. */
  read(): Copy
  /** A row of the service in the columns of the copy. */
  asTheyHaveIt(row: Row): Row
}

/** dlt writes names in snake case. */
function dltReader() {
  const place = join(scratch, 'dlt')
  mkdirSync(place)
  const install = ['install', '--quiet', '--no-deps', '--force-reinstall', join(root, 'packages/sdk-python')]
  execFileSync(join(dltBin, 'pip'), install, { stdio: 'inherit' })
  writeFileSync(join(place, 'load.py'), blockWith('docs/guides/consumers.md', 'python', 'prove(pipeline)'))
  const python = (...words: string[]) =>
    execFileSync(join(dltBin, 'python'), words, {
      cwd: place,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: {
        ...process.env,
        DESKWIRE_URL: `${service.url}/v1`,
        DESKWIRE_API_KEY: key,
        DLT_DATA_DIR: join(place, '.dlt'),
        RUNTIME__DLTHUB_TELEMETRY: 'false',
      },
    })
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const exact = `{${kinds.map(({ plural }) => `'${plural}': True`).join(', ')}}`
  const reader: Reader = {
    name: `dlt ${versionOf(dltBin, 'dlt')} into DuckDB ${versionOf(dltBin, 'duckdb')}`,
    read() {
      const said = python('load.py').trim()
      if (said !== exact) report(`dlt proved: ${said}`, false)
      const copy: Copy = new Map(kinds.map(({ plural }) => [plural, new Map()]))
      for (const line of python(join(root, 'checks/consumers/rows.py'), 'deskwire.duckdb')
        .trim()
        .split('\n')) {
        const { table, row } = JSON.parse(line)
        copy.get(table)?.set(row.id, withoutNulls(row))
      }
      return copy
    },
    asTheyHaveIt: ({ object: _, ...row }) =>
      withoutNulls(Object.fromEntries(Object.entries(row).map(([name, value]) => [snake(name), value]))),
  }
  return { ...reader, python: (file: string) => python(join(root, 'checks/consumers', file)) }
}

/** A destination that keeps the last row of each key, and drops it when it has a time of deletion. */
function airbyteReader(): Reader {
  const place = join(scratch, 'airbyte')
  mkdirSync(place)
  const file = (name: string, value: unknown) => {
    writeFileSync(join(place, name), typeof value === 'string' ? value : JSON.stringify(value))
    return join(place, name)
  }
  const config = file('config.json', { url: `${service.url}/v1`, key })
  const manifest = ['--manifest-path', join(consumers, 'airbyte.yaml')]
  // biome-ignore lint/suspicious/noExplicitAny: messages of Airbyte's protocol; a wrong guess fails the comparison
  const run = (command: string, ...words: string[]): any[] =>
    execFileSync(
      join(airbyteBin, 'source-declarative-manifest'),
      [command, '--config', config, ...words, ...manifest],
      {
        cwd: place,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const said = run('check').find(({ type }) => type === 'CONNECTION_STATUS')
  const status = said?.connectionStatus?.status
  const { streams } = run('discover').find(({ type }) => type === 'CATALOG').catalog
  const name = `airbyte-cdk ${versionOf(airbyteBin, 'airbyte-cdk')}`
  report(
    `${name}, check: ${status}; discover: ${streams.map((stream: { name: string }) => stream.name).join(', ')}`,
    status === 'SUCCEEDED',
  )
  const catalog = file('catalog.json', {
    streams: streams.map((stream: object) => ({
      stream,
      sync_mode: 'incremental',
      destination_sync_mode: 'append_dedup',
      cursor_field: ['updatedAt'],
      primary_key: [['id']],
    })),
  })
  const states = new Map<string, unknown>()
  const copy: Copy = new Map(kinds.map(({ plural }) => [plural, new Map()]))
  return {
    name,
    read() {
      const state = file('state.json', [...states.values()])
      for (const message of run('read', '--catalog', catalog, '--state', state)) {
        if (message.type === 'STATE') states.set(message.state.stream.stream_descriptor.name, message.state)
        if (message.type !== 'RECORD') continue
        const { stream, data } = message.record
        const { _ab_cdc_deleted_at: deletedAt, ...row } = data
        if (deletedAt === null || deletedAt === undefined) copy.get(stream)?.set(row.id, row)
        else copy.get(stream)?.delete(row.id)
      }
      return copy
    },
    // Its messages leave out null.
    asTheyHaveIt: withoutNulls,
  }
}

/** Differences, row by row and value by value. */
function compare(expected: Copy, actual: Copy, asTheyHaveIt: (row: Row) => Row): string[] {
  const differences: string[] = []
  for (const [table, rows] of expected) {
    const theirs = actual.get(table) ?? new Map<string, Row>()
    for (const id of theirs.keys())
      if (!rows.has(id)) differences.push(`${table} ${id} was removed and is there`)
    for (const [id, row] of rows) {
      const [ours, own] = [sorted(asTheyHaveIt(row)), sorted(theirs.get(id) ?? null)]
      if (ours !== own) differences.push(`${table} ${id}: ${ours} is ${own}`)
    }
  }
  return differences
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

function withoutNulls(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

function versionOf(bin: string, name: string): string {
  const code = `from importlib.metadata import version; print(version('${name}'))`
  return execFileSync(join(bin, 'python'), ['-c', code], { encoding: 'utf8' }).trim()
}
