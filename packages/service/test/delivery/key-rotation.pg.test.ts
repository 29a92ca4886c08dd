/** One encryption key replaces another: all that is stored is readable throughout, wherever it is broken off, and nothing is left. */
import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { backUp } from '../../src/backup/backup.ts'
import { examineBackup, restore } from '../../src/backup/restore.ts'
import { KeyRotationError, rotateEncryptionKey } from '../../src/delivery/endpoint/key-rotation.ts'
import { createSecretBox, keyCheckOf, SecretBoxError } from '../../src/delivery/endpoint/secrets.ts'
import { rotateFunction } from '../../src/delivery/endpoint/store.ts'
import { claimKey } from '../../src/delivery/endpoint/vault.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { keyFault } from '../../src/roles/delivery-settings.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte)
const pair = (current: number, previous: number) => ({ current: keyOf(current), previous: keyOf(previous) })
const once = () => ({ 'idempotency-key': randomUUID() })

/** A service on the database that holds these keys. */
function serviceWith(database: TestDatabase, current: number, previous: number | null = null) {
  return testService({
    database,
    settings: {
      encryptionKey: keyOf(current),
      encryptionKeyPrevious: previous === null ? null : keyOf(previous),
    },
  })
}

/** The same key of an organization at another process. */
const at = (service: TestService, api: Api) => service.withToken(api.token)

const standing = (database: TestDatabase, current: number, previous: number | null = null) =>
  claimKey(database.pool, {
    current: keyOf(current),
    previous: previous === null ? null : keyOf(previous),
  })

/** How many stored secrets and responses the key opens, and how many it does not. */
async function opened(database: TestDatabase, byte: number): Promise<{ opens: number; not: number }> {
  const { rows } = await database.pool.query<{ organization: string; subject: string; sealed: Buffer }>(
    `select organization_id as organization, webhook_id as subject, sealed from webhook_secrets
     union all select organization_id, subject_id, sealed from idempotency_keys where sealed is not null`,
  )
  const box = createSecretBox(keyOf(byte))
  const found = { opens: 0, not: 0 }
  for (const { organization: organizationId, subject: webhookId, sealed } of rows) {
    try {
      box.open(sealed, { organizationId, webhookId })
      found.opens++
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error
      found.not++
    }
  }
  return found
}

/** Makes endpoints and an API key, each with a stored answer; each call is to be answered alike for as long as it is kept. */
async function makeStored(api: Api, count: number) {
  const calls: { readonly ask: (api: Api) => Promise<{ status: number; text: string }>; text: string }[] = []
  const keep = async (path: string, body: unknown) => {
    const headers = once()
    const ask = (asked: Api) => asked.post(path, body, headers)
    const { status, text } = await ask(api)
    expect(status).toBe(201)
    calls.push({ ask, text })
  }
  for (let n = 0; n < count; n++)
    await keep('/v1/webhooks', { url: `https://127.0.0.1:1/${n}`, events: ['customer.created'] })
  await keep('/v1/api-keys', { name: 'another', scopes: ['customers:read'] })
  return {
    /** Asks everything again of a process; each answer must be the first one. */
    async sameFrom(service: TestService) {
      for (const { ask, text } of calls) expect((await ask(at(service, api))).text).toBe(text)
    },
  }
}

test('beside processes with both keys, broken off and begun again: everything is readable at each step, and nothing is left', async () => {
  await using database = await testDatabase()
  expect(await standing(database, 7)).toBe('held')
  await using before = await serviceWith(database, 7)
  await using both = await serviceWith(database, 8, 7)
  const { api } = before
  const stored = await makeStored(api, 5)
  // What a process with both keys writes, one with the old key alone can read.
  const other = await makeStored(at(both, api), 2)
  await other.sameFrom(before)
  expect(await opened(database, 7)).toEqual({ opens: 7 + 9, not: 0 })

  const stopping = new Error('killed')
  const rotation = rotateEncryptionKey(database.pool, pair(8, 7), {
    rowsAPiece: 3,
    onPiece() {
      throw stopping
    },
  })
  await expect(rotation).rejects.toBe(stopping)
  expect(await opened(database, 8)).toEqual({ opens: 3, not: 13 })
  await stored.sameFrom(both)
  await other.sameFrom(both)
  // From now on nothing is taken under the old key; what was not made can be asked for again.
  const refused = await api.post('/v1/webhooks', {
    url: 'https://127.0.0.1:1/',
    events: ['customer.created'],
  })
  expect(refused).toMatchObject({ status: 503, json: { code: 'unavailable' } })
  expect(refused.json.detail).toContain('encryption key')
  expect(before.logged.map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('the database names another encryption key'),
  )
  await makeWebhook(at(both, api), {}, once())
  expect(await opened(database, 8)).toEqual({ opens: 5, not: 13 })
  expect(await standing(database, 8, 7)).toBe('held')
  expect(await standing(database, 8)).toBe('unfinished')
  expect(await standing(database, 7)).toBe('another')

  const done = await rotateEncryptionKey(database.pool, pair(8, 7), { rowsAPiece: 3 })
  expect(done).toEqual({ secrets: 4, responses: 9, unreadable: [] })
  expect(await opened(database, 8)).toEqual({ opens: 18, not: 0 })
  expect(await standing(database, 8)).toBe('held')
  expect(await standing(database, 7)).toBe('another')
  await using after = await serviceWith(database, 8)
  await stored.sameFrom(after)
  await other.sameFrom(after)
  await makeWebhook(at(after, api), {}, once())

  // Once more does nothing, and with the keys changed about it goes back.
  expect(await rotateEncryptionKey(database.pool, pair(8, 7))).toMatchObject({ secrets: 0, responses: 0 })
  expect(await rotateEncryptionKey(database.pool, pair(7, 8))).toMatchObject({ secrets: 9, responses: 11 })
  expect(await opened(database, 7)).toEqual({ opens: 20, not: 0 })
  await stored.sameFrom(before)
})

test('a commit under the old key that is under way is waited for, and what it wrote is sealed anew', async () => {
  await using service = await testService()
  const { database, api } = service
  expect(await standing(database, 7)).toBe('held')
  const { id: webhookId, updatedAt } = await makeWebhook(api)
  const { organizationId } = api
  const sealed = createSecretBox(keyOf(7)).seal('whsec_late', { organizationId, webhookId })
  const late = new Client(database.connection)
  await late.connect()
  try {
    await late.query('begin')
    const now = new Date().toISOString()
    const { rows } = await late.query(
      `select ${rotateFunction.name}($1, $2, $3, $4, $3, $5, $6, $7, $3, 20, null) as outcome`,
      [organizationId, webhookId, now, updatedAt, randomUUID(), sealed, keyCheckOf(keyOf(7))],
    )
    expect(rows).toEqual([{ outcome: 'done' }])
    const rotation = rotateEncryptionKey(database.pool, pair(8, 7))
    await waitingBackends(database, 1)
    await late.query('commit')
    expect(await rotation).toEqual({ secrets: 2, responses: 0, unreadable: [] })
    expect(await opened(database, 8)).toEqual({ opens: 2, not: 0 })
  } finally {
    await late.end()
  }
})

test('a row that somebody holds is waited for, and no other with it; one that is removed meanwhile is none', async () => {
  await using service = await testService()
  const { database, api } = service
  expect(await standing(database, 7)).toBe('held')
  const [first, second] = [await makeWebhook(api), await makeWebhook(api)]
  await makeWebhook(api)
  const holder = new Client(database.connection)
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('delete from webhook_secrets where webhook_id = $1', [first.id])
    const rotation = rotateEncryptionKey(database.pool, pair(8, 7))
    await waitingBackends(database, 1)
    expect(await opened(database, 8)).toEqual({ opens: 2, not: 1 })
    // Were it waiting with another row in its hands, this would be a deadlock.
    await holder.query('update webhook_secrets set expires_at = now() where webhook_id = $1', [second.id])
    await holder.query('commit')
    expect(await rotation).toEqual({ secrets: 2, responses: 0, unreadable: [] })
  } finally {
    await holder.end()
  }
})

test('keys that are not those of the database change nothing', async () => {
  await using service = await testService()
  const { database, api } = service
  expect(await standing(database, 7)).toBe('held')
  await makeWebhook(api)
  for (const [current, previous, line] of [
    [8, 9, /neither DESKWIRE_ENCRYPTION_KEY nor DESKWIRE_ENCRYPTION_KEY_PREVIOUS/],
    [7, 7, /are the same key/],
  ] as const) {
    const rotation = rotateEncryptionKey(database.pool, pair(current, previous))
    await expect(rotation).rejects.toThrow(KeyRotationError)
    await expect(rotation).rejects.toThrow(line)
  }
  expect(await standing(database, 7)).toBe('held')
  expect(await opened(database, 7)).toEqual({ opens: 1, not: 0 })
  // Each is one line at a start.
  const config = { dataDir: '/data', encryptionKey: keyOf(8), encryptionKeyPrevious: keyOf(9) }
  expect(keyFault(await standing(database, 8, 9), config)).toMatch(
    /^neither DESKWIRE_ENCRYPTION_KEY nor DESKWIRE_ENCRYPTION_KEY_PREVIOUS is the key [^\n]+$/,
  )
})

test('what neither key opens was lost before: it is told of, and holds nothing up', async () => {
  await using service = await testService()
  const { database, api } = service
  expect(await standing(database, 7)).toBe('held')
  const lost = await makeWebhook(api)
  await makeWebhook(api)
  const owner = { organizationId: api.organizationId, webhookId: lost.id }
  await database.pool.query('update webhook_secrets set sealed = $1 where webhook_id = $2', [
    createSecretBox(keyOf(3)).seal('whsec_lost', owner),
    lost.id,
  ])
  expect(await rotateEncryptionKey(database.pool, pair(8, 7))).toEqual({
    secrets: 1,
    responses: 0,
    unreadable: [lost.id],
  })
  expect(await standing(database, 8)).toBe('held')
})

test('a backup of before, or of the middle, is restored with both keys, and the rotation is to be finished', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'deskwire-rotation-'))
  await using service = await testService()
  const { database, api } = service
  expect(await standing(database, 7)).toBe('held')
  await makeWebhook(api)
  const file = join(directory.path, 'desk.backup')
  await backUp(database.pool, systemClock, file)
  await using empty = await testDatabase({ template: null })
  const backup = await examineBackup(file)
  const options = { clock: systemClock, encryptionKey: keyOf(8), withoutKey: false }
  await expect(restore(empty.pool, backup, options)).rejects.toThrow('and this is another')
  await restore(empty.pool, backup, { ...options, encryptionKeyPrevious: keyOf(7) })
  expect(await standing(empty, 8)).toBe('unfinished')
  expect(await rotateEncryptionKey(empty.pool, pair(8, 7))).toMatchObject({ secrets: 1 })
  expect(await standing(empty, 8)).toBe('held')
})
