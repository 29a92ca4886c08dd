/**
 * A delivery that kills its worker: the receiver ends the worker's process whenever it comes. Leases last ten minutes here, so
 * that whatever goes on does so because the supervisor gives back what the dead one held. Summaries go on, too.
 */
import { expect, test } from 'vitest'
import { startHooks } from '../../../testbed/arrivals.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { deliveriesOf } from '../../../testbed/hooks.ts'
import { kill } from '../../../testbed/program.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl, workerOf } from '../../../testbed/services.ts'
import { read, resolved } from '../../../testbed/summaries.ts'

test('is tried as often as its schedule says and told of in the log; all others arrive, and /readyz tells of the worker', async () => {
  await using hooks = await startHooks()
  // Which says how many attempts a delivery has.
  await using service = await testService({
    settings: { schedule: { ...deliverySettings.schedule, retryDelays: [100] } },
  })
  await using services = createServices()
  const { api, url, database } = service
  const running = await services.serve(['--database-url', socketUrl(database.connection)], {
    ...hooks.settings,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_ANSWER_TIMEOUT: '10m',
    DESKWIRE_RETRY_DELAYS: '100ms',
    DESKWIRE_SUMMARY_DELAY: '50ms',
  })
  /** Without any setting of the summarizer. */
  const summarizes = async (text: string) => {
    const { id } = await resolved(api, [text])
    await eventually('it has a summary', async () => (await read(api, id)).summary !== null)
    expect((await read(api, id)).summary).toBe(`Customer: ${text}`)
  }
  await summarizes('Where is parcel 1?')
  const deaths: number[] = []
  let poison: string | undefined
  hooks.script('poisoned', async (nth) => {
    const arrival = hooks.of('poisoned')[nth - 1]
    if (arrival?.eventId !== poison && !arrival?.body.includes('poison')) return 200
    poison = arrival?.eventId
    const worker = await eventually('its worker is found', () => workerOf(running))
    deaths.push(worker)
    kill(worker)
    return null
  })
  const endpoint = await hooks.register({ url, token: api.token }, 'poisoned', ['customer.created'])
  await hooks.register({ url, token: api.token }, 'other', ['customer.created'])
  await api.post('/v1/customers', { name: 'poison' })
  await eventually('it has killed a worker', () => deaths.length > 0)
  for (let n = 0; n < 5; n++) await api.post('/v1/customers', { name: `number ${n}` })

  const ready = await eventually('/readyz tells of it', async () => {
    const answer = await fetch(`${running.url}/readyz`)
    const said = (await answer.json()) as { status: string; degraded?: string }
    return said.degraded === undefined ? null : { code: answer.status, ...said }
  })
  expect(ready).toEqual({
    code: 200,
    status: 'ready',
    degraded: expect.stringMatching(/ended \d+ times in a row/),
  })

  const rows = await eventually('nothing is pending', async () => {
    const log = await deliveriesOf(api, endpoint.id)
    return log.every(({ status }) => status !== 'pending') ? log : null
  })
  expect(rows).toHaveLength(6)
  const lost = rows.find(({ eventId }) => eventId === poison)
  expect(lost).toMatchObject({ status: 'failed', attemptCount: 2, lastError: { code: 'worker_lost' } })
  for (const row of rows.filter((one) => one !== lost))
    expect(row).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  // Three to find it out, one alone, and one at its retry.
  expect(deaths).toHaveLength(5)
  expect((await api.get(`/v1/webhooks/${endpoint.id}`)).json).toMatchObject({
    status: 'active',
    failureCount: 0,
  })
  await eventually(
    'the other endpoint has got all of them',
    () => new Set(hooks.of('other').map(({ eventId }) => eventId)).size === 6,
  )
  await summarizes('Where is parcel 2?')
  expect(running.output.all).toContain('released the queues that the worker held')
  expect((await running.end('SIGTERM')).code).toBe(0)
})
