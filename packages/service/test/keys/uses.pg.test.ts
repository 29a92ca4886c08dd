/** `lastUsedAt`: noted beside calls, at most once a minute a key a process, and never in anybody's way. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { minute } from '../../../testbed/hooks.ts'
import { asToken, makeKey, readKey } from '../../../testbed/keys.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { createUseRecorder } from '../../src/auth/authenticator.ts'

const clock = testClock()
const shared = sharedService({ clock })

test('a call shows, exact to a minute, and moves neither updatedAt nor anything else', async () => {
  const api = await shared().newOrganization()
  const { id, token, ...before } = await makeKey(api)
  const who = asToken(shared(), api, token)
  const lastUse = async (expected: string) =>
    eventually(`used at ${expected}`, async () => (await readKey(api, id)).lastUsedAt === expected)
  clock.advance(5_000)
  const first = new Date(clock.now()).toISOString()
  await who.get('/v1/customers')
  await lastUse(first)
  expect(await readKey(api, id)).toEqual({ id, ...before, lastUsedAt: first })
  clock.advance(minute)
  // A refusal for want of a scope is a use as well.
  await who.get('/v1/tickets')
  await lastUse(new Date(clock.now()).toISOString())
})

describe('the recorder', () => {
  async function recorder(failing = false) {
    const api = await shared().newOrganization()
    const { id } = await makeKey(api)
    const { pool } = shared().database
    const written: unknown[][] = []
    const errors: Error[] = []
    const spied = {
      query: (statement: { text: string; values: unknown[] }) => {
        written.push(statement.values)
        return failing ? Promise.reject(new Error('no database')) : pool.query(statement)
      },
    } as unknown as typeof pool
    const uses = createUseRecorder({ pool: spied, clock, onError: (error) => errors.push(error) })
    return { api, key: { organizationId: api.organizationId, apiKeyId: id }, uses, written, errors }
  }

  test('writes a key once a minute, however often it is used', async () => {
    const { uses, key, written } = await recorder()
    for (let n = 0; n < 1_000; n++) uses.note(key)
    clock.advance(minute - 1)
    uses.note(key)
    await uses.settled()
    expect(written).toHaveLength(1)
    clock.advance(1)
    uses.note(key)
    await uses.settled()
    expect(written).toHaveLength(2)
  })

  test('never goes back: of two processes, the later use stays', async () => {
    const { api, uses, key } = await recorder()
    const late = createUseRecorder({
      pool: shared().database.pool,
      clock: testClock(clock.now() - 30_000),
      onError: (error) => {
        throw error
      },
    })
    uses.note(key)
    await uses.settled()
    late.note(key)
    await late.settled()
    expect((await readKey(api, key.apiKeyId)).lastUsedAt).toBe(new Date(clock.now()).toISOString())
  })

  test('leaves a key that was revoked meanwhile alone', async () => {
    const { api, uses, key, errors } = await recorder()
    await api.delete(`/v1/api-keys/${key.apiKeyId}`)
    uses.note(key)
    await uses.settled()
    expect(errors).toEqual([])
  })

  test('goes on after a failure, and says so to nobody but the log', async () => {
    const { uses, key, errors } = await recorder(true)
    uses.note(key)
    clock.advance(minute)
    uses.note(key)
    await uses.settled()
    expect(errors.map(({ message }) => message)).toEqual(['no database', 'no database'])
  })
})

test('a call does not wait for its note', async () => {
  const api = await shared().newOrganization()
  const { id, token } = await makeKey(api)
  // Whoever writes of this key's use has to wait.
  await using lock = await lockRow(shared().database, 'api_keys', { organizationId: api.organizationId, id })
  const answer = await asToken(shared(), api, token).get('/v1/customers')
  expect(answer.status).toBe(200)
  await lock.release()
})
