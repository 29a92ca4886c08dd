/**
 * kill -9 under load: of either worker, of an API, of the service that holds the database, of the database, of everything. What
 * was acknowledged is there, followers go on from their cursors, and what is sent again is not made twice. Every
 * acknowledged change arrives at every endpoint that asked for it, signed and as it was; what arrives twice is one event
 * with one id, and no endpoint ever sees more than sixteen requests at once.
 */
import { expect, test } from 'vitest'
import { type Hook, type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { audit } from '../../../testbed/audit.ts'
import { auditDeliveries, busyEndpointQueues, unsettled, witness } from '../../../testbed/delivery-audit.ts'
import { callOf, type Desk, openDesk, type Tenant } from '../../../testbed/desk-under-fire.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { differences, type Follower, follow, tableRecords } from '../../../testbed/follower.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { type Call, createLoad, dice, expectedAnswers, lost, type Post } from '../../../testbed/load.ts'
import { kill } from '../../../testbed/program.ts'
import { workerOf } from '../../../testbed/services.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'

const strikes = {
  'the worker beside its parent': async (desk: Desk) => {
    const pid = await workerOf(desk.holder)
    if (pid !== null) kill(pid)
    await eventually('the worker is replaced', async () => {
      const next = await workerOf(desk.holder)
      return next !== null && next !== pid
    })
  },
  'the other worker': (desk: Desk) => desk.worker.end('SIGKILL'),
  'the other API': (desk: Desk) => desk.api.end('SIGKILL'),
  'a connection of the database': (desk: Desk) => desk.killBackend(),
  'the holder': (desk: Desk) => desk.holder.end('SIGKILL'),
  'the database': async (desk: Desk) => {
    await desk.killPostmaster()
    // A service whose embedded database is gone ends by itself, its worker with it, and calls that no success.
    expect((await desk.holder.ended).code).toBe(1)
    // Those beside it are told where the next one is; without any database they still stop cleanly.
    for (const ended of await Promise.all([desk.api.end('SIGTERM'), desk.worker.end('SIGTERM')]))
      expect(ended.code).toBe(0)
  },
  everything: async (desk: Desk) => {
    await desk.killPostmaster()
    await Promise.all([desk.holder, desk.api, desk.worker].map((service) => service.end('SIGKILL')))
  },
}

type Victim = keyof typeof strikes

/** Each blow falls on these at once; one worker is left or none. */
const blows: readonly (readonly Victim[])[] = [
  ['the worker beside its parent', 'the other API'],
  ['the other worker', 'a connection of the database'],
  ['everything'],
  ['the database'],
  ['the holder'],
]

const kinds = ['customers', 'tickets'] as const
const customers = ['customer.created', 'customer.updated', 'customer.deleted']
const tickets = [
  'ticket.created',
  'ticket.updated',
  'ticket.status_changed',
  'ticket.assigned',
  'ticket.deleted',
]

interface Shop extends Tenant {
  readonly organizationId: string
  readonly hooks: readonly Hook[]
  readonly followers: readonly { readonly kind: (typeof kinds)[number]; readonly follower: Follower }[]
}

/** An organization with four endpoints: two good ones, one that fails now and then, and one that is slow. */
async function openShop(desk: Desk, hooks: Hooks, name: string): Promise<Shop> {
  const { organizationId, token } = await desk.query((pool) => createOrganization(pool, systemClock, name))
  hooks.script(`${name}-shaky`, (nth) => (nth % 4 === 0 ? 500 : 200))
  hooks.script(`${name}-slow`, () => new Promise((resolve) => setTimeout(resolve, 120, 200)))
  const at = { url: desk.holder.url, token }
  const registered = [
    await hooks.register(at, `${name}-steady`, [...customers, ...tickets]),
    await hooks.register(at, `${name}-customers`, customers),
    await hooks.register(at, `${name}-shaky`, [...customers, ...tickets]),
    await hooks.register(at, `${name}-slow`, tickets),
  ]
  const followers = kinds.map((kind) => ({
    kind,
    follower: follow(httpReader({ url: () => desk.api.url, token, kind, limit: 50 })),
  }))
  return { organizationId, token, hooks: registered, load: createLoad(), followers }
}

/** Sends the posts again, under their keys, as a careful client would. Returns how many succeed, and what is wrong. */
async function sendAgain(posts: readonly Post[], call: Call): Promise<{ made: number; problems: string[] }> {
  const problems: string[] = []
  let made = 0
  for (const { path, body, key, answered } of posts) {
    const { status, text } = await call('POST', path, body, { 'idempotency-key': key })
    // What it made may have been removed since, or may not have been made and now cannot be.
    if (status === 404 || (answered === null && (status === 422 || status === 409))) continue
    if (status === 201) made++
    else problems.push(`${key} was answered ${status} ${text}`)
    if (answered !== null && status === 201 && text !== answered) problems.push(`${text}, first ${answered}`)
  }
  return { made, problems }
}

/** Whether a shop's acknowledged changes are there and its followers exact, and stay so when its creations are sent again. */
async function checkStream(desk: Desk, shop: Shop, victims: readonly Victim[]): Promise<string> {
  const { organizationId, token, load, followers } = shop
  const told = victims.join(' and ')
  return desk.query(async (pool) => {
    const tables = () => Promise.all(kinds.map((kind) => tableRecords(pool, kind, organizationId)))
    const count = async () => (await tables()).flat().length
    const check = async () => {
      expect(await lost(pool, organizationId, load.acknowledged), told).toEqual([])
      expect(await audit(pool, organizationId), told).toEqual([])
      const rows = await tables()
      for (const [n, { follower }] of followers.entries()) {
        await follower.drain()
        expect(follower.faults, told).toEqual([])
        expect(differences(follower.copy, rows[n]!), told).toEqual([])
      }
    }
    await check()
    // What was answered is there: sending it again makes nothing.
    const before = await count()
    const answered = load.posts.filter((post) => post.answered !== null).slice(-20)
    expect((await sendAgain(answered, callOf(desk.api.url, token))).problems).toEqual([])
    expect(await count()).toBe(before)
    // What was not answered may be there, and is afterwards, once.
    const unanswered = load.posts.filter((post) => post.answered === null)
    const again = await sendAgain(unanswered, callOf(desk.holder.url, token))
    expect(again.problems).toEqual([])
    const after = await count()
    const committed = again.made - (after - before)
    expect(committed).toBeGreaterThanOrEqual(0)
    expect((await sendAgain(unanswered, callOf(desk.api.url, token))).problems).toEqual([])
    expect(await count()).toBe(after)
    await check()
    return `${unanswered.length} creations unanswered, ${committed} of them committed`
  })
}

test('kill -9 with deliveries in flight loses none of them', async () => {
  await using hooks = await startHooks()
  await using desk = await openDesk({
    ...hooks.settings,
    DESKWIRE_ANSWER_TIMEOUT: '1s',
    DESKWIRE_RETRY_DELAYS: `200ms,400ms,800ms,${Array(12).fill('1s').join()}`,
  })
  await desk.query((pool) => witness(pool))
  // In turn, so that the endpoint queues of one are not still leased to the dead when the next blow falls.
  const shops = await Promise.all(['a', 'b', 'c', 'd'].map((name) => openShop(desk, hooks, name)))
  const seed = Date.now()
  const chance = dice(seed)
  const report: string[] = []
  const quiet = () =>
    desk.query((pool) => eventually('nothing is pending', async () => (await busyEndpointQueues(pool)) === 0))

  const beyondTheLog = async () => {
    const { arrivals } = hooks
    const of = await desk.query((pool) =>
      Promise.all(shops.map((shop) => unsettled(pool, { ...shop, arrivals }))),
    )
    return of.flatMap((counts) => [...counts.values()])
  }

  // In peace, nothing arrives twice but by an attempt that the log shows.
  await Promise.all(shops.map((shop) => desk.write(shop, 15, seed).done))
  await quiet()
  expect(hooks.arrivals.length).toBeGreaterThan(100)
  expect(await beyondTheLog()).toEqual([])

  for (const [round, victims] of blows.entries()) {
    const shop = shops[round % shops.length]!
    const { load } = shop
    const moment = load.acknowledged.length + 15 + Math.floor(chance() * 20)
    const writing = desk.write(shop, 40, seed + round * 100)
    for (const { follower } of shop.followers) await follower.poll()
    await eventually('both are in flight', () => load.acknowledged.length >= moment && hooks.inFlight > 0)
    const [requests, changes] = [hooks.inFlight, load.inFlight]
    const since = performance.now()
    await Promise.all(victims.map((victim) => strikes[victim](desk)))
    await desk.revive()
    const ms = Math.round(performance.now() - since)
    await writing.stop()
    const creations = await checkStream(desk, shop, victims)
    report.push(
      `${victims.join(' and ')}: ${requests} requests and ${changes} changes in flight, all up again in ${ms} ms; ${creations}`,
    )
  }
  const since = performance.now()
  await quiet()
  const drained = Math.round(performance.now() - since)
  const beyond = await beyondTheLog()

  for (const shop of shops) {
    const { load } = shop
    expect(
      await desk.query((pool) => auditDeliveries(pool, { ...shop, ...load, arrivals: hooks.arrivals })),
    ).toEqual([])
    const answers = [...load.tally.keys()].filter((answer) => !expectedAnswers.has(answer))
    expect(answers.filter((answer) => answer !== 'unanswered' && answer !== '500 internal_error')).toEqual([])
  }
  // What a dead worker had taken is sent again, and no more than that: 64 of each of an organization's endpoints, once.
  const again = beyond.reduce((sum, count) => sum + count, 0)
  expect(again).toBeLessThanOrEqual(blows.length * 4 * 64)
  expect(Math.max(0, ...beyond)).toBeLessThanOrEqual(blows.length)
  const most = Math.max(...shops.flatMap((shop) => shop.hooks.map(({ name }) => hooks.maxAtOnce(name))))
  expect(most).toBeLessThanOrEqual(16)
  expect(await desk.stop()).toEqual([0, 0, 0])
  expect(desk.crashes()).toEqual([])
  const acknowledged = shops.reduce((sum, { load }) => sum + load.acknowledged.length, 0)
  console.log(
    [
      ...report,
      `kill -9 in ${blows.length} blows (seed ${seed}): ${acknowledged} changes acknowledged, ` +
        `${hooks.arrivals.length} requests arrived, ${again} of them not completed and sent again, at most ${most} at once; quiet ${drained} ms after the last change`,
    ].join('\n'),
  )
})
