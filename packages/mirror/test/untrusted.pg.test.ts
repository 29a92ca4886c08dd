/** What a mirror does with what it cannot rely on: names of a hostile service, and rows that a store cannot hold. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { type Answered, startProxy } from '../../cli/test/conform/proxy.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { Mirror, MirrorError, type QuarantinedRow, type Trouble } from '../src/index.ts'
import { exportNdjson } from '../src/ndjson.ts'
import { duckDb } from './duckdb.ts'
import { plantedMessage as plantedIn, plant as plantIn } from './planted.ts'
import { places } from './stores.ts'

const shared = sharedService()

const plant = (table: 'messages' | 'customers', id: string, from: string, to: string) =>
  plantIn(shared().database.pool, table, id, from, to)
const plantedMessage = (client: Client, text: string) => plantedIn(shared().database.pool, client, text)

const clientOf = (url: string, apiKey: string) => createClient({ baseUrl: `${url}/v1`, apiKey })

/** A document of a service, as far as it is spoiled here. */
interface Document {
  paths: Record<string, unknown>
  components: { schemas: Record<string, { description: string; properties: Record<string, unknown> }> }
}

const evil = (sql: string) => `x" text); ${sql}; --`
const fields: Record<string, (document: Document) => void> = {
  'a field that ends a statement': ({ components }) => {
    Object.assign(customerOf(components), { [evil('drop table mine')]: { type: 'string' } })
  },
  'a field that is an own column': ({ components }) => {
    Object.assign(customerOf(components), { _body: { type: 'string' } })
  },
  'two fields of one column': ({ components }) => {
    Object.assign(customerOf(components), { extra_field: { type: 'string' }, extraField: { type: 'string' } })
  },
  'a field of a thousand letters': ({ components }) => {
    Object.assign(customerOf(components), { ['a'.repeat(1_000)]: { type: 'string' } })
  },
  'a kind that ends a statement': ({ components }) => {
    Object.assign(customerOf(components), { object: { const: evil('drop table mine') } })
  },
  'a table that ends a statement': (document) => rename(document, `customers" (x text); drop table mine; --`),
  'a table that is a path': (document) => rename(document, '..%2f..%2ftmp%2fcustomers'),
  "a table that is the mirror's": (document) => rename(document, 'deskwire_mirror'),
  'a table of a copy that is being built': (document) => rename(document, 'customers_next'),
}

function customerOf({ schemas }: Document['components']): Record<string, unknown> {
  return schemas.Customer?.properties ?? expect.unreachable('there are customers')
}

/** Has the document say that customers are at another address. */
function rename(document: Document, plural: string): void {
  const renamed = Object.entries(document.paths).map(([path, item]) => [
    path.replace(/^\/v1\/customers\b/, () => `/v1/${plural}`),
    item,
  ])
  document.paths = Object.fromEntries(renamed)
}

// The document is refused before any store is asked.
test.each(Object.entries(fields))(
  'a hostile service is refused for %s, and nothing is touched',
  async (_, spoil) => {
    await using at = await places.SQLite()
    await at.occupy()
    const before = await at.look()
    const { token } = await shared().newOrganization()
    await using hostile = await startProxy(shared().url, {
      answer: ({ path }, answered: Answered) => {
        if (path.endsWith('/openapi.json')) spoil(answered.json)
      },
    })
    const mirror = new Mirror({ client: clientOf(hostile.url, token), store: at.store() })
    await expect(mirror.catchUp()).rejects.toThrow(MirrorError)
    await mirror.close()
    expect(await at.look()).toEqual(before)
  },
)

describe.each(Object.entries(places))('a hostile service, in %s', (_, placeOf) => {
  test('cannot say in a description what the store would run', async () => {
    await using at = await placeOf(shared().database.connection)
    await at.occupy()
    const { token } = await shared().newOrganization()
    const said = `It's \\'; drop table mine; --\u0000\u001b[31m`
    const client = createClient({
      baseUrl: `${shared().url}/v1`,
      apiKey: token,
      fetch: async (url, init) => {
        const answer = await fetch(url, init)
        if (!String(url).endsWith('/openapi.json')) return answer
        const document = (await answer.json()) as Document
        for (const schema of Object.values(document.components.schemas)) schema.description = said
        return Response.json(document)
      },
    })
    const mirror = new Mirror({ client, store: at.store() })
    await mirror.catchUp()
    await mirror.close()
    expect(await at.sql('select * from mine')).toEqual([])
  })
})

describe.each(Object.entries(places))('a row that %s cannot hold', (_, placeOf) => {
  test('is quarantined, and stops nothing', async () => {
    const [text, half] = ['\\u0000', '\\ud800']
    await using at = await placeOf(shared().database.connection)
    const client = clientOf(shared().url, (await shared().newOrganization()).token)
    const first = await plantedMessage(client, text)
    const troubles: Trouble[] = []
    const mirror = new Mirror({
      client,
      store: at.store(),
      onTrouble: (trouble) => troubles.push(trouble),
    })
    await mirror.catchUp()
    const second = await plantedMessage(client, half)
    const { id: name } = await client.customers.create({ name: 'HERE' })
    await plant('customers', name, 'HERE', half)
    const kept = await client.customers.create({ name: 'Kept' })
    await mirror.catchUp()
    expect(await at.sql(`select name from customers where id = '${kept.id}'`)).toEqual([{ name: 'Kept' }])
    const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort()
    const all = [first, second, name].sort()
    expect(troubles.map(({ type }) => type)).toEqual(Array(3).fill('quarantined'))
    const verified = await mirror.verify()
    expect(verified).toMatchObject({ exact: false, differences: [], rows: { message: 2, customer: 4 } })
    expect(ids(verified.quarantined)).toEqual(all)
    const [one] = verified.quarantined.filter(({ id }) => id === first) as [QuarantinedRow]
    expect(one.reason).toMatch(/^attachments holds U\+0000 or half of a surrogate pair/)
    expect(one).toMatchObject({ kind: 'message', text: expect.stringContaining(`files.example/${text}`) })
    const other = verified.quarantined.find(({ id }) => id === second)
    expect(other?.text).toContain(`files.example/${half}`)
    expect(await mirror.repair()).toEqual([])
    expect(ids(await mirror.quarantined())).toEqual(all)
    // A row of somebody else in its place is found.
    const time = "'2026-01-31T09:30:00.000Z'"
    await at.sql(
      `insert into messages (id, organization_id, conversation_id, created_at, updated_at, sent_at,
          direction, content_type, channel, author, attachments, _body)
        values ('${first}', '${first}', '${first}', ${time}, ${time}, ${time}, '', '', '', '{}', '[]', '{}')`,
    )
    expect((await mirror.verify()).differences).toMatchObject([{ id: first, type: 'changed' }])
    expect(await mirror.repair()).toHaveLength(1)
    expect((await mirror.verify()).differences).toEqual([])

    // It leaves when it changes, or is removed.
    await client.customers.update(name, { name: 'Sound' })
    await mirror.catchUp()
    expect(await at.sql(`select name from customers where id = '${name}'`)).toEqual([{ name: 'Sound' }])
    expect(ids(await mirror.quarantined())).toEqual([first, second].sort())
    await client.customers.update(name, { name: 'HERE' })
    await plant('customers', name, 'HERE', text)
    await mirror.catchUp()
    expect(await at.sql(`select name from customers where id = '${name}'`)).toEqual([])
    await client.customers.delete(name)
    await mirror.catchUp()
    expect(ids(await mirror.quarantined())).toEqual([first, second].sort())
    expect((await mirror.verify()).differences).toEqual([])
    await mirror.close()
  })

  test('is one that breaks a constraint of somebody else, and leaves when it fits', async () => {
    await using at = await placeOf(shared().database.connection)
    const client = clientOf(shared().url, (await shared().newOrganization()).token)
    const mirror = new Mirror({ client, store: at.store() })
    await mirror.catchUp()
    await at.sql('create unique index one_name on customers (name)')
    await client.customers.batch(['Grace', 'Ada', 'Ada', 'Katherine'].map((name) => ({ name })))
    await mirror.catchUp()
    expect(await at.sql('select name from customers order by name')).toEqual(
      ['Ada', 'Grace', 'Katherine'].map((name) => ({ name })),
    )
    const { differences, quarantined } = await mirror.verify()
    expect([differences, quarantined]).toMatchObject([
      [],
      [{ kind: 'customer', reason: expect.stringMatching(/unique/i) }],
    ])
    await client.customers.update(quarantined[0]?.id as string, { name: 'Another Ada' })
    await mirror.catchUp()
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 4 } })
    await mirror.close()
  })
})

test('lines of JSON hold a row that no database holds', async () => {
  const client = clientOf(shared().url, (await shared().newOrganization()).token)
  const id = await plantedMessage(client, '\\u0000')
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-export-'))
  try {
    const manifest = await exportNdjson({ client, directory })
    expect(manifest.quarantined).toBeUndefined()
    const lines = readFileSync(join(directory, 'messages.ndjson'), 'utf8')
    expect(JSON.parse(lines)).toMatchObject({ id, attachments: [{ url: 'https://files.example/\0' }] })
    expect(manifest.checkpoint.message?.count).toBe(1)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test.runIf(duckDb)('a manifest of Parquet names the rows that its files lack', async () => {
  const { exportParquet } = await import('../src/parquet.ts')
  const client = clientOf(shared().url, (await shared().newOrganization()).token)
  const id = await plantedMessage(client, '\\ud800')
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-export-'))
  try {
    const { quarantined } = await exportParquet({ client, directory })
    expect(quarantined).toMatchObject([{ kind: 'message', id }])
    expect(existsSync(join(directory, 'messages.parquet'))).toBe(true)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
