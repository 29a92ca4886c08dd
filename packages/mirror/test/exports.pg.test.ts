/** Exports of a moment: whole, proved, and gone on with where one was broken off. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { sharedService } from '../../testbed/shared-service.ts'
import { passes } from '../src/index.ts'
import { type ExportManifest, exportNdjson } from '../src/ndjson.ts'
import { type DuckDb, duckDb } from './duckdb.ts'

const shared = sharedService()

/** An organization with a few rows, and a directory that is gone in the end. */
async function desk() {
  const api = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const ada = await client.customers.create({
    name: 'Ada "\n\t\u2028 ☕',
    tags: ['a', 'b'],
    customAttributes: { n: 1e21, b: false },
  })
  await client.customers.create({ name: 'Grace' })
  await client.tickets.create({ customerId: ada.id, subject: "It's late", priority: 'high' })
  const gone = await client.tickets.create({ customerId: ada.id, subject: 'Gone' })
  await client.tickets.delete(gone.id)
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-export-'))
  return {
    client,
    ada,
    directory,
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true })
    },
  }
}

type Desk = Awaited<ReturnType<typeof desk>>

/** The rows of a kind as they are served, by id. */
async function served({ client }: Desk, kind: 'customers' | 'tickets'): Promise<string[]> {
  const texts: string[] = []
  for await (const piece of client.kind(kind).export().texts()) texts.push(...piece)
  const rows = texts.filter((text) => JSON.parse(text).object !== 'removed')
  return rows.sort((a, b) => (JSON.parse(a).id < JSON.parse(b).id ? -1 : 1))
}

/** The manifest says what the service says at its cursor, and nothing but whole files is there. */
async function expectProved({ client, directory }: Desk, manifest: ExportManifest): Promise<void> {
  expect(JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'))).toEqual(manifest)
  expect(readdirSync(directory).sort()).toEqual([...Object.values(manifest.files), 'manifest.json'].sort())
  const { value: page } = await client.changes.sync({ cursor: manifest.cursor }).next()
  expect(page).toMatchObject({ changes: [], checkpoint: manifest.checkpoint })
}

test('lines of JSON are the bytes that are served, and an export made again has what is new', async () => {
  await using at = await desk()
  const { client, directory } = at
  const lines = (name: string) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1)
  await expectProved(at, await exportNdjson({ client, directory }))
  expect(lines('customers.ndjson')).toEqual(await served(at, 'customers'))
  expect(lines('tickets.ndjson')).toEqual(await served(at, 'tickets'))
  expect(lines('bookings.ndjson')).toEqual([])

  await client.customers.update(at.ada.id, { name: 'Ada' })
  await expectProved(at, await exportNdjson({ client, directory }))
  expect(lines('customers.ndjson')).toEqual(await served(at, 'customers'))
})

const plain = {
  id: 'VARCHAR',
  customer_id: 'VARCHAR',
  number: 'BIGINT',
  updated_at: 'TIMESTAMP WITH TIME ZONE',
  tags: 'VARCHAR',
}

test.runIf(duckDb).each([
  [false, { ...plain, id: 'UUID', customer_id: 'UUID', tags: 'JSON' }],
  [true, plain],
])('Parquet has the fields as columns of their types (strings: %s)', async (strings, expected) => {
  const { exportParquet } = await import('../src/parquet.ts')
  await using at = await desk()
  const { client, directory } = at
  await expectProved(at, await exportParquet({ client, directory, strings }))
  const instance = await (duckDb as DuckDb).DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson()
    const file = (name: string) => `'${join(directory, name).replaceAll("'", "''")}'`
    const types = await read(`describe select * from ${file('tickets.parquet')}`)
    const typeOf = Object.fromEntries(types.map(({ column_name, column_type }) => [column_name, column_type]))
    expect(typeOf).toMatchObject(expected)
    expect(
      await read(
        `select c.name, c.custom_attributes->>'n' as n, t.subject, epoch_ms(t.updated_at) as at
          from ${file('tickets.parquet')} t join ${file('customers.parquet')} c on c.id = t.customer_id`,
      ),
    ).toEqual([
      {
        name: 'Ada "\n\t\u2028 ☕',
        n: '1e21',
        subject: "It's late",
        at: String(Date.parse((await client.tickets.list().page()).data[0]?.updatedAt as string)),
      },
    ])
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
})

test('what is broken off leaves no manifest, and is gone on with', async () => {
  await using at = await desk()
  const { client, directory } = at
  const enough = new AbortController()
  const stopped = exportNdjson({
    client,
    directory,
    signal: enough.signal,
    onLoaded: () => enough.abort(new Error('enough')),
  })
  await expect(stopped).rejects.toThrow('enough')
  expect(existsSync(join(directory, 'manifest.json'))).toBe(false)
  const loaded: number[] = []
  await expectProved(
    at,
    await exportNdjson({ client, directory, onLoaded: ({ rows }) => void loaded.push(rows) }),
  )
  // What was loaded before counts.
  expect(loaded[0]).toBeGreaterThan(0)
})

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test.runIf(process.platform === 'linux')('a directory that cannot be made is an error', async () => {
  await using at = await desk()
  const directory = '/proc/self/none/export'
  await expect(exportNdjson({ client: at.client, directory })).rejects.toThrow(/ENOENT/)
})

test.runIf(process.platform === 'linux')(
  'a full disk is reported in one line, and the export may be tried again',
  async () => {
    await using at = await desk()
    const { client, directory } = at
    const scratch = join(directory, '.deskwire-export')
    mkdirSync(scratch)
    symlinkSync('/dev/full', join(scratch, 'customers.ndjson'))
    const failed: Error = await exportNdjson({ client, directory }).then(
      () => expect.unreachable('it was written'),
      (error) => error,
    )
    expect(passes(failed)).toBe(true)
    expect(failed.message).toMatch(/^\S+: ENOSPC: [^\n]+\. Look at the space [^\n]+\.$/)
    rmSync(join(scratch, 'customers.ndjson'))
    await expectProved(at, await exportNdjson({ client, directory }))
  },
)

test('an export that stopped while it replaced files is gone on with, with a scratch directory of its own', async () => {
  await using at = await desk()
  const { client, directory } = at
  const options = { client, directory, scratch: join(directory, 'scratch') }
  await exportNdjson(options)
  const names = readdirSync(directory)
  // A directory with the name of a file that is replaced later stops the export in the middle.
  rmSync(join(directory, 'tickets.ndjson'))
  mkdirSync(join(directory, 'tickets.ndjson'))
  await expect(exportNdjson(options)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  rmSync(join(directory, 'tickets.ndjson'), { recursive: true })
  await exportNdjson(options)
  expect(readdirSync(directory).sort()).toEqual(names.sort())
})

test('files of others are left alone, and an export is for its user alone', async () => {
  await using at = await desk()
  const { client } = at
  const directory = join(at.directory, 'new')
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
  mkdirSync(directory)
  for (const name of ['manifest.json', 'tickets.ndjson']) {
    write(name, 'mine')
    await expect(exportNdjson({ client, directory })).rejects.toThrow(
      `${join(directory, name)} is not of an export, and nothing was changed.`,
    )
    expect(readdirSync(directory)).toEqual([name])
    expect(readFileSync(join(directory, name), 'utf8')).toBe('mine')
    rmSync(join(directory, name))
  }
  write('customers.ndjson.part', 'mine')
  write('.deskwire-export', 'mine')
  await expect(exportNdjson({ client, directory })).rejects.toThrow(/EEXIST/)
  expect(readFileSync(join(directory, '.deskwire-export'), 'utf8')).toBe('mine')
  rmSync(join(directory, '.deskwire-export'))
  const enough = new AbortController()
  const broken = exportNdjson({
    client,
    directory,
    signal: enough.signal,
    onLoaded: () => enough.abort(new Error('enough')),
  })
  await expect(broken).rejects.toThrow('enough')
  const scratch = join(directory, '.deskwire-export')
  expect(mode(scratch)).toBe('700')
  for (const name of readdirSync(scratch)) expect([name, mode(join(scratch, name))]).toEqual([name, '600'])
  const manifest = await exportNdjson({ client, directory })
  const names = [...Object.values(manifest.files), 'manifest.json']
  for (const name of names) expect([name, mode(join(directory, name))]).toEqual([name, '600'])
  expect(readFileSync(join(directory, 'customers.ndjson.part'), 'utf8')).toBe('mine')
  // What the user has shared stays so.
  chmodSync(join(directory, 'tickets.ndjson'), 0o644)
  await exportNdjson({ client, directory })
  expect([mode(join(directory, 'tickets.ndjson')), mode(join(directory, 'customers.ndjson'))]).toEqual([
    '644',
    '600',
  ])
  // One that was killed while it replaced files knows them for its own.
  const noted = join(directory, '.deskwire-export.json')
  for (const options of [{}, { scratch: join(at.directory, 'scratch') }]) {
    rmSync(join(directory, 'manifest.json'))
    writeFileSync(noted, JSON.stringify(names))
    await exportNdjson({ client, directory, ...options })
    expect([existsSync(scratch), existsSync(noted)]).toEqual([false, false])
  }

  const made = join(at.directory, 'made')
  await exportNdjson({ client, directory: made })
  expect(mode(made)).toBe('700')
})
