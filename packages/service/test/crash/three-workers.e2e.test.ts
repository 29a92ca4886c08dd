/**
 * Three workers on one database, killed at random moments under load: every delivery arrives, is completed once, and no
 * event is sent again more often than a worker that had it died. No endpoint ever sees more than sixteen at once.
 */
import { expect, test } from 'vitest'
import { type Hook, type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import {
  auditDeliveries,
  busyEndpointQueues,
  standing,
  unsettled,
  witness,
} from '../../../testbed/delivery-audit.ts'
import { callOf } from '../../../testbed/desk-under-fire.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { createLoad, dice } from '../../../testbed/load.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, type ServiceProcess, socketUrl } from '../../../testbed/services.ts'

const kills = 3
const endpoints = 9
const customers = ['customer.created', 'customer.updated', 'customer.deleted']

/** Takes some time to answer, and counts how many it is answering at once. */
function busyEndpoint(hooks: Hooks, name: string, chance: () => number) {
  const seen = { now: 0, most: 0 }
  hooks.script(name, async () => {
    seen.now++
    seen.most = Math.max(seen.most, seen.now)
    await new Promise((resolve) => setTimeout(resolve, chance() * 60))
    seen.now--
    return chance() < 0.05 ? 500 : 200
  })
  return seen
}

test('three workers killed at random under load: exact accounting afterwards', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const { api, url } = service
  await witness(pool)
  const seed = Date.now()
  const chance = dice(seed)
  const start = () =>
    services.serve(['--role', 'worker', '--database-url', socketUrl(connection)], {
      ...hooks.settings,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DESKWIRE_ANSWER_TIMEOUT: '500ms',
      DESKWIRE_RETRY_DELAYS: Array(10).fill('300ms').join(),
    })
  const registered: Hook[] = []
  const seen = []
  for (let n = 0; n < endpoints; n++) {
    seen.push(busyEndpoint(hooks, `busy-${n}`, chance))
    registered.push(await hooks.register({ url, token: api.token }, `busy-${n}`, customers))
  }
  const workers: Promise<ServiceProcess>[] = [start(), start(), start()]
  await Promise.all(workers)

  const load = createLoad()
  let writing = true
  const writers = Array.from({ length: 3 }, async () => {
    while (writing) {
      await load.write(callOf(url, api.token), chance)
    }
  })

  const blows: { readonly requests: number; readonly pending: number; readonly leased: number }[] = []
  for (let n = 0; n < kills; n++) {
    const moment = hooks.arrivals.length + 30 + Math.floor(chance() * 120)
    await eventually('deliveries are in flight', () => hooks.arrivals.length >= moment && hooks.inFlight > 0)
    const requests = hooks.inFlight
    const victim = Math.floor(chance() * workers.length)
    await (await workers[victim])?.end('SIGKILL')
    const { pending, leased } = await standing(pool)
    blows.push({ requests, pending, leased })
    // The others go on meanwhile.
    workers[victim] = start()
  }
  writing = false
  await Promise.all(writers)
  const since = performance.now()
  await eventually('nothing is pending', async () => (await busyEndpointQueues(pool)) === 0)
  const quietAfter = Math.round(performance.now() - since)

  const { arrivals } = hooks
  const shop = { organizationId: api.organizationId, hooks: registered, arrivals }
  expect(await auditDeliveries(pool, { ...shop, acknowledged: load.acknowledged })).toEqual([])
  const sends = new Map<string, number>()
  for (const { endpoint, eventId } of arrivals) {
    const key = `${endpoint} ${eventId}`
    sends.set(key, (sends.get(key) ?? 0) + 1)
  }
  const { rows } = await pool.query<{ webhook_id: string; event_id: string; attempts: number }>(
    `select d.webhook_id, d.event_id, d.attempt_count as attempts from deliveries d`,
  )
  for (const { webhook_id, event_id, attempts } of rows) {
    const name = registered.find(({ id }) => id === webhook_id)?.name
    const sent = sends.get(`${name} ${event_id}`) ?? 0
    // Connections that a worker did not get to before it died leave an attempt without an arrival: never the reverse.
    expect(sent, `${name} ${event_id}`).toBeLessThanOrEqual(attempts + kills)
  }
  const again = await unsettled(pool, shop)
  expect(again).toBeLessThanOrEqual(kills * endpoints * (64 + 16))
  // The dead one's are still being answered when its successor begins.
  for (const { most } of seen) expect(most).toBeLessThanOrEqual(16)
  const running = await Promise.all(workers)
  const ended = await Promise.all(running.map((worker) => worker.end('SIGTERM')))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
  console.log(
    `three workers, ${kills} kills (seed ${seed}): ${blows.map(({ requests, pending, leased }) => `${requests} requests in flight, ${pending} pending, ${leased} lanes held`).join('; ')}. ` +
      `${rows.length} deliveries, ${arrivals.length} requests, ${again} of them not completed and sent again; quiet ${quietAfter} ms after the last change`,
  )
})
