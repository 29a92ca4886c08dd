/** What happens to an endpoint while attempts to it are under way. */
import { describe, expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { dataOf, minute, receiverUrl, retry, second } from '../../../testbed/hooks.ts'
import { lockRow, waitingBackends, waitingChanges } from '../../../testbed/locks.ts'
import { failureOf } from '../../src/delivery/queue/endpoint-queues.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

async function desk() {
  const it = await deskWithEndpoint({ events: ['customer.created', 'customer.updated'] })
  const held = heldSend()
  const { engine, queues } = testEngine(it.service, it.clock, { send: held.send })
  return { ...it, held, engine, queues }
}

describe('disabling an endpoint', () => {
  test('fails what is pending as soon as the round under way is over, retries included', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    await makeCustomer(it.api)
    const round = it.engine.runDue()
    await it.held.made(2)
    await it.api.patch(it.path, { status: 'disabled' })
    for (const attempt of it.held.attempts) attempt.answer(500)
    await round
    expect(await it.log()).toMatchObject([
      { status: 'failed', attemptCount: 1, lastError: { code: 'endpoint_disabled' }, nextAttemptAt: null },
      { status: 'failed', attemptCount: 1, lastError: { code: 'endpoint_disabled' }, nextAttemptAt: null },
    ])
    it.clock.advance(minute)
    await it.engine.runDue()
    expect(it.held.attempts).toHaveLength(2)
  })

  test('a delivery that arrived meanwhile has succeeded', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const round = it.engine.runDue()
    await it.held.made(1)
    await it.api.patch(it.path, { status: 'disabled' })
    it.held.attempts[0]?.answer(200)
    await round
    expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 1 }])
    expect((await it.read()).status).toBe('disabled')
  })

  test('nor is one lost that arrives after a worker has disabled it', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    await makeCustomer(it.api)
    const round = it.engine.runDue()
    await it.held.made(2)
    it.held.attempts[0]?.fail('address_not_public')
    it.clock.advance(2 * second)
    await eventually('it is disabled', async () => (await it.read()).status === 'disabled')
    it.held.attempts[1]?.answer(200)
    await round
    expect(await it.log()).toMatchObject([
      { eventId: it.held.attempts[1]?.eventId, status: 'succeeded' },
      { eventId: it.held.attempts[0]?.eventId, status: 'failed' },
    ])
  })

  test('what an attempt from before found does not end what was begun anew since', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const delays = [1, 5, 30, 120, 480].map((minutes) => minutes * minute)
    for (const [n, delay] of delays.entries()) {
      const round = it.engine.runDue()
      ;(await it.held.made(n + 1)).answer(500)
      await round
      it.clock.advance(delay)
    }
    const round = it.engine.runDue()
    const last = await it.held.made(6)
    await it.api.patch(it.path, { status: 'disabled' })
    await it.api.patch(it.path, { status: 'active' })
    const [failed] = await it.log()
    expect((await retry(it.api, failed)).json).toMatchObject({ status: 'pending', maxAttempts: 11 })
    last.answer(500)
    ;(await it.held.made(7)).answer(200)
    await round
    await it.engine.runDue()
    expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 6, maxAttempts: 11 }])
  })

  test('does not fail what comes after it was enabled again', async () => {
    await using it = await desk()
    await it.api.patch(it.path, { status: 'disabled' })
    await it.api.patch(it.path, { status: 'active' })
    await makeCustomer(it.api)
    // Somebody who read it while it was disabled, and comes late.
    await it.queues.failPending(it.endpoint, failureOf('manual'), it.clock.now())
    expect(await it.log()).toMatchObject([{ status: 'pending' }])
  })

  test('two that enable it at once leave what came in between alone', async () => {
    await using it = await desk()
    await it.api.patch(it.path, { status: 'disabled' })
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    const made = [
      it.api.patch(it.path, { status: 'active' }),
      it.api.patch(it.path, { status: 'active', description: 'x' }),
    ]
    await waitingChanges(it.service, 2)
    await lock.release()
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual([200, 200])
    expect(await it.read()).toMatchObject({ status: 'active', description: 'x' })
  })
})

describe('moving an endpoint', () => {
  /** It has another URL since an attempt began. */
  async function movedInFlight(it: Awaited<ReturnType<typeof desk>>) {
    await makeCustomer(it.api)
    const round = it.engine.runDue()
    await it.held.made(1)
    const url = `${receiverUrl}/new`
    expect((await it.api.patch(it.path, { url })).status).toBe(200)
    return { round, url }
  }

  test('to another URL: what an attempt to the old one found does not disable it', async () => {
    await using it = await desk()
    const { round, url } = await movedInFlight(it)
    it.held.attempts[0]?.fail('address_not_public')
    await round
    expect(await it.read()).toMatchObject({ status: 'active', disabledReason: null, url })
    await makeCustomer(it.api)
    const next = it.engine.runDue()
    expect((await it.held.made(2)).url).toBe(url)
    it.held.attempts[1]?.answer(200)
    await next
  })

  test('and neither does it when more was taken for the new one since', async () => {
    await using it = await desk()
    const { round, url } = await movedInFlight(it)
    await makeCustomer(it.api)
    it.engine.wake()
    expect((await it.held.made(2)).url).toBe(url)
    it.held.attempts[0]?.fail('address_not_public')
    it.held.attempts[1]?.answer(200)
    await round
    expect(await it.read()).toMatchObject({ status: 'active', disabledReason: null, url })
  })

  test('to another registrant: that the old one is gone does not disable it', async () => {
    await using it = await desk()
    const { pool } = it.service.database
    const key = await it.service.newKey(it.api.organizationId, ['*'])
    const { apiKeyId } = (await key.patch(it.path, { url: receiverUrl })).json
    await makeCustomer(it.api)
    await pool.query('delete from api_keys where id = $1', [apiKeyId])
    // The worker has read that the registrant is gone, and comes to disable the endpoint only after the PATCH.
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    const round = it.engine.runDue()
    await waitingBackends(it.service.database, 1)
    await pool.query('update webhooks set api_key_id = (select id from api_keys limit 1)')
    await lock.release()
    const attempt = await it.held.made(1)
    attempt.answer(200)
    await round
    expect(await it.read()).toMatchObject({ status: 'active', disabledReason: null })
    expect(await it.log()).toMatchObject([{ status: 'succeeded' }])
  })

  test('out of the world: attempts under way complete nothing, and nothing fails', async () => {
    await using it = await desk()
    await makeCustomer(it.api)
    const round = it.engine.runDue()
    await it.held.made(1)
    expect((await it.api.delete(it.path)).status).toBe(204)
    it.held.attempts[0]?.answer(200)
    await round
    await it.service.app.maintenance.run()
    const { rows } = await it.service.database.pool.query(
      'select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from attempts) as attempts',
    )
    expect(rows).toEqual([{ deliveries: 0, attempts: 0 }])
  })
})

// At once, as each waits for seconds.
describe.concurrent('a backlog of a slow endpoint', () => {
  /** Seventeen deliveries, of which sixteen are under way; the last is of the customer that is answered. */
  async function backlog(it: Awaited<ReturnType<typeof desk>>) {
    for (let n = 0; n < 16; n++) await makeCustomer(it.api, { name: `number ${n}` })
    it.clock.advance(1)
    const last = await makeCustomer(it.api, { name: 'the last' })
    const round = it.engine.runDue()
    await it.held.made(16)
    it.clock.advance(5 * second)
    return {
      last,
      answerAll: () => {
        for (const attempt of it.held.inFlight()) attempt.answer(200)
      },
      round,
    }
  }

  test('is read when its turn comes, not when the first of it was sent', async () => {
    await using it = await desk()
    const { last, answerAll, round } = await backlog(it)
    const changed = await it.api.patch(`/v1/customers/${last.id}`, { name: 'changed meanwhile' })
    answerAll()
    const sent = await it.held.made(18)
    for (const each of [it.held.attempts[16], sent]) expect(dataOf(each!)).toBe(changed.text)
    answerAll()
    await round
  })

  test('is not sent any more once its subject is removed', async () => {
    await using it = await desk()
    const { last, answerAll, round } = await backlog(it)
    await it.api.delete(`/v1/customers/${last.id}`)
    answerAll()
    await round
    expect(it.held.attempts).toHaveLength(16)
    const [row] = await it.log()
    expect(row).toMatchObject({ status: 'failed', lastError: { code: 'subject_unavailable' } })
  })

  test('is not sent any more once the endpoint is disabled', async () => {
    await using it = await desk()
    const { answerAll, round } = await backlog(it)
    await it.api.patch(it.path, { status: 'disabled' })
    answerAll()
    await round
    expect(it.held.attempts).toHaveLength(16)
    expect((await it.log()).map(({ status }) => status).filter((status) => status === 'failed')).toHaveLength(
      1,
    )
  })

  test('is signed with no secret whose overlap was ended', async () => {
    await using it = await desk()
    await it.api.post(`${it.path}/rotate-secret`, undefined)
    const { answerAll, round } = await backlog(it)
    expect((await it.api.delete(`${it.path}/previous-secret`)).status).toBe(204)
    answerAll()
    const sent = await it.held.made(17)
    expect(it.held.attempts[0]?.signature.match(/v1=/g)).toHaveLength(2)
    expect(sent.signature.match(/v1=/g)).toHaveLength(1)
    answerAll()
    await round
  })
})
