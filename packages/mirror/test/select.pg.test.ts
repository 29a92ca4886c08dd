/** What a copy leaves out never reaches its store, and what it keeps is proved. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Client, createClient } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { markRestored } from '../../service/src/backup/restore.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import {
  Mirror,
  type MirrorOptions,
  type Selection,
  type Store,
  statusOf,
  type Trouble,
} from '../src/index.ts'
import { exportNdjson } from '../src/ndjson.ts'
import { duckDb } from './duckdb.ts'
import { plantedMessage } from './planted.ts'
import { type Place, places, plantRow } from './stores.ts'

const shared = sharedService()
const hashKey = 'a key of sixteen characters or more'
const select: Selection = {
  kinds: ['messages', 'customers', 'conversations'],
  exclude: ['messages.body', 'customers.phone', 'conversations.subject'],
  hash: ['customers.email'],
}
/** What may be nowhere. */
const secrets = ['planted-phrase', 'planted-subject', 'planted@example.com', '5550199']

async function desk() {
  const { token } = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
  return { client, ...(await add(client, 'Ada')) }
}

/** A customer, a conversation and a message, each with a secret. */
async function add(client: Client, name: string) {
  const customer = await client.customers.create({
    name,
    email: `${name}-planted@example.com`,
    phone: '+445550199',
  })
  const conversation = await client.conversations.create({
    customerId: customer.id,
    channel: 'email',
    subject: 'planted-subject',
  })
  const message = await client.messages.create({
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'planted-phrase',
  })
  await client.tickets.create({ customerId: customer.id, subject: 'planted-subject' })
  return { customerId: customer.id, messageId: message.id }
}

/** Everything that is given to a store, as text. */
function recorded(store: Store, into: string[]): Store {
  const proxied = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...values: unknown[]) => {
          const given = values.map((value) => {
            if (typeof value === 'function') return (tx: object) => value(proxied(tx))
            const isTaken = typeof value === 'object' && value !== null && Symbol.iterator in value
            return isTaken ? [...(value as Iterable<unknown>)] : value
          })
          into.push(JSON.stringify(given))
          return Reflect.apply(member, target, given)
        }
      },
    })
  return proxied(store)
}

/** All bytes of the files of a place, or all rows of its tables. */
async function bytesOf(at: Place): Promise<string> {
  if ('file' in at.address) {
    const directory = dirname(at.address.file)
    return readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), 'latin1'))
      .join('\n')
  }
  const tables = await at.sql('select tablename from pg_tables where schemaname = current_schema()')
  const texts = await Promise.all(
    tables.map(({ tablename }) => at.sql(`select t::text as text from ${tablename} t`)),
  )
  return JSON.stringify(texts)
}

const found = (text: string) => secrets.filter((secret) => text.includes(secret))

describe.each(Object.entries(places))('in %s', (_, placeOf) => {
  const place = (): Promise<Place> => placeOf(shared().database.connection)

  test.each([{ body: true }, { body: false }])(
    'nothing that is left out reaches the store, and the rest is exact, also after somebody changed it (body: $body)',
    async ({ body }) => {
      await using at = await place()
      const { client, customerId, messageId } = await desk()
      const given: string[] = []
      const troubles: Trouble[] = []
      const begin = (options: Partial<MirrorOptions> = {}) =>
        new Mirror({
          client,
          store: recorded(at.store(), given),
          hashKey,
          onTrouble: (trouble) => troubles.push(trouble),
          ...options,
        })
      const own = { ...select, ...(!body && { body }) }
      const first = begin({ select: own })
      await first.catchUp()
      await first.close()

      // It goes on without the options, with changes, removals, rows that the store cannot hold, and a restore.
      const mirror = begin()
      const { customerId: gone } = await add(client, 'Grace')
      await client.customers.update(customerId, { name: 'Augusta' })
      await plantedMessage(shared().database.pool, client, '\\u0000')
      await mirror.catchUp()
      await client.customers.delete(gone)
      await mirror.catchUp()
      expect(await at.sql('select name from customers order by name')).toEqual([
        { name: 'Ada' },
        { name: 'Augusta' },
      ])
      const verified = await mirror.verify()
      expect(verified).toMatchObject({
        differences: [],
        reduced: expect.arrayContaining(['customer', 'conversation', 'message']),
        rows: { customer: 2, conversation: 3, message: 3 },
        quarantined: [{ kind: 'message' }],
      })
      expect(Object.keys(verified.rows).sort()).toEqual(['conversation', 'customer', 'message'])

      await markRestored(shared().database.pool, systemClock)
      await mirror.catchUp()
      expect(troubles.map(({ type }) => type)).toEqual(expect.arrayContaining(['quarantined', 'restored']))
      expect((await mirror.verify()).differences).toEqual([])

      const email = createHmac('sha256', hashKey).update('ada-planted@example.com').digest('hex')
      const [row] = await at.sql(`select * from customers where id = '${customerId}'`)
      expect(row).toMatchObject({ email, name: 'Augusta' })
      expect(Object.keys(row ?? {})).not.toContain('phone')
      const kept = JSON.parse(row?._body as string)
      if (body) expect(kept).toMatchObject({ email, name: 'Augusta', id: customerId })
      else expect(Object.keys(kept)).toEqual(['updatedAt'])

      // What somebody changes is found and mended.
      await at.sql(`update customers set email = 'eve@example.com' where id = '${customerId}'`)
      await at.sql(`delete from messages where id = '${messageId}'`)
      await at.sql(`update conversations set _body = '{}'`)
      await plantRow(at, 'customers', '01980000-0000-7000-8000-000000000001')
      const { differences } = await mirror.verify()
      expect(differences.map(({ kind, type, columns }) => [kind, type, ...columns]).sort()).toEqual([
        ...Array(3).fill(['conversation', 'changed', '_body']),
        ['customer', 'changed', 'email'],
        ['customer', 'extra'],
        ['message', 'missing'],
      ])
      expect(await mirror.repair()).toHaveLength(6)
      await client.customers.update(customerId, { name: 'Ada' })
      expect((await mirror.verify()).differences).toEqual([])

      // In files while they are open, in what the store was given, and in what was reported.
      expect(given.length).toBeGreaterThan(10)
      expect(found(given.join('\n'))).toEqual([])
      expect(found(await bytesOf(at))).toEqual([])
      expect(found(JSON.stringify([troubles, await mirror.quarantined()]))).toEqual([])
      await mirror.close()
      expect(found(await bytesOf(at))).toEqual([])
    },
  )

  test('without a selection all of it is there', async () => {
    await using at = await place()
    const { client } = await desk()
    const mirror = new Mirror({ client, store: at.store() })
    await mirror.catchUp()
    expect(found(await bytesOf(at))).toEqual(secrets)
    await mirror.close()
  })

  test('a selection that cannot be kept to is refused before anything is made', async () => {
    await using at = await place()
    const { client } = await desk()
    const begin = async (options: Partial<MirrorOptions>) => {
      const mirror = new Mirror({ client, store: at.store(), hashKey, ...options })
      try {
        return await mirror.catchUp()
      } finally {
        await mirror.close()
      }
    }
    for (const [options, error] of [
      [{ select: { kinds: ['custmers'] } }, /no kind "custmers"; there are .*customers/],
      [{ select: { exclude: ['customers.emial'] } }, /no field of customers "emial"; there are id, .*email/],
      [{ select: { exclude: ['email'] } }, /no field "email"/],
      [{ select: { hash: ['customers.updatedAt'] } }, /has to be kept as it is/],
      [{ select: { exclude: ['customers.email'], hash: ['customers.email'] } }, /both excluded and hashed/],
      [{ select, hashKey: undefined }, /DESKWIRE_HASH_KEY/],
      [{ select, hashKey: 'short' }, /at least 16/],
      [{ select: { body: false }, removals: 'mark' }, /need `_body`/],
    ] as const)
      await expect(begin(options)).rejects.toThrow(error)
    const store = at.store()
    expect(await statusOf(store)).toBeUndefined()
    await store.close()

    await begin({ select })
    for (const [options, error] of [
      [{ select: { kinds: ['customers'] } }, /which cannot be changed/],
      [{ select: {} }, /which cannot be changed/],
      [{ hashKey: undefined }, /DESKWIRE_HASH_KEY/],
      [{ hashKey: 'another key of sixteen' }, /another than that of the copy/],
    ] as const)
      await expect(begin(options)).rejects.toThrow(error)
    await begin({ select: { ...select, kinds: [...(select.kinds ?? [])].reverse() } })
    expect(await statusOf(store)).toMatchObject({ selection: { exclude: expect.any(Array) } })
    await store.close()
  })
})

test.each(duckDb ? ['ndjson', 'parquet'] : ['ndjson'])('an export leaves out as much: %s', async (form) => {
  const { client } = await desk()
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-export-'))
  try {
    const { exportParquet } = form === 'parquet' ? await import('../src/parquet.ts') : {}
    const manifest = await (exportParquet ?? exportNdjson)({ client, directory, select, hashKey })
    expect(Object.values(manifest.files).sort()).toEqual(
      ['conversations', 'customers', 'messages'].map((plural) => `${plural}.${form}`),
    )
    expect(manifest.selection).toMatchObject({ hash: ['customers.email'] })
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'))
    expect(found(files.join('\n'))).toEqual([])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
