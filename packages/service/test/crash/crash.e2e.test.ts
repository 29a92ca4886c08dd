/**
 * kill -9 under load: of a service, of the database, of everything. What was acknowledged is there, followers go on
 * from their cursors, and what is sent again is not made twice.
 */
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { differences, follow, tableRecords } from '../../../testbed/follower.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { type Installation, install } from '../../../testbed/installation.ts'
import {
  type Call,
  createLoad,
  dice,
  expectedAnswers,
  type Load,
  lost,
  type Post,
} from '../../../testbed/load.ts'
import { kill } from '../../../testbed/program.ts'
import type { ServiceProcess } from '../../../testbed/services.ts'

/** A service beside the holder is killed by checks/torture/test/torture.e2e.test.ts. */
type Victim = 'the holder' | 'the database' | 'everything'

const victims: readonly Victim[] = ['the holder', 'the database', 'everything']

const kinds = ['customers', 'tickets'] as const

function callOf(url: string, token: string): Call {
  return async (method, path, body, headers) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
}

/** How many changes in a row a writer sends that nobody answers, before it takes the service for gone. */
const patience = 10

/**
 * Writers against both services until told to stop; a service that has ended has no more writers. One that is about to end
 * refuses connections at once, thousands of them, which would all be sent again.
 */
function writers(load: Load, services: readonly ServiceProcess[], token: string, seed: number) {
  let stopping = false
  const done = Array.from({ length: 10 }, async (_, n) => {
    const roll = dice(seed * 100 + n)
    const service = services[n % services.length]!
    const call = callOf(service.url, token)
    for (let silent = 0; !stopping && service.running() && silent < patience; )
      silent = (await load.write(call, roll)) ? 0 : silent + 1
  })
  return {
    async stop() {
      stopping = true
      await Promise.all(done)
    },
  }
}

async function strike(
  victim: Victim,
  installation: Installation,
  [holder, beside]: readonly ServiceProcess[],
) {
  const postmaster = await installation.postmasterPid()
  if (victim === 'the database' || victim === 'everything') kill(postmaster)
  if (victim === 'the holder' || victim === 'everything') await holder!.end('SIGKILL')
  if (victim === 'everything') await beside!.end('SIGKILL')
  // A service whose embedded database is gone ends by itself, and does not call that a success.
  if (victim === 'the database') expect((await holder!.ended).code).toBe(1)
}

/** Both services, those that still run included. One beside a database that is gone has to be told where it is. */
async function revive(
  victim: Victim,
  installation: Installation,
  [holder, beside]: readonly ServiceProcess[],
): Promise<ServiceProcess[]> {
  const first = holder!.running() ? holder! : await installation.start('holder')
  if (victim === 'the database') await beside!.end('SIGTERM')
  const second = beside!.running() ? beside! : await installation.start('beside')
  return [first, second]
}

/** Sends the posts again, under their keys, as a careful client would. Says how many succeed, and what is wrong. */
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

test('kill -9 loses nothing that was acknowledged, and nothing is made twice', async () => {
  await using installation = await install()
  const { token } = installation
  let services = [await installation.start('holder')]
  services.push(await installation.start('beside'))
  const organizationId = /organization (\S+) was created/.exec(services[0]!.output.all)![1]!
  const load = createLoad()
  let current = services[0]!.url
  const followers = kinds.map((kind) => ({
    kind,
    follower: follow(httpReader({ url: () => current, token, kind, limit: 50 })),
  }))
  const settled = new Set<Post>()
  const report: string[] = []
  const chance = dice(Date.now())

  for (const [round, victim] of victims.entries()) {
    const acknowledgedBefore = load.acknowledged.length
    const writing = writers(load, services, token, round)
    for (const { follower } of followers) await follower.poll()
    const moment = acknowledgedBefore + 60 + Math.floor(chance() * 120)
    await eventually('writes are acknowledged', () => load.acknowledged.length >= moment)
    const inFlight = load.inFlight
    await strike(victim, installation, services)
    await writing.stop()
    const unanswered = load.posts.filter((post) => post.answered === null && !settled.has(post))
    const since = performance.now()
    services = await revive(victim, installation, services)
    const revived = Math.round(performance.now() - since)
    current = services[round % 2]!.url

    const pool = await installation.connect()
    try {
      const check = async () => {
        expect(await lost(pool, organizationId, load.acknowledged), victim).toEqual([])
        expect(await audit(pool, organizationId), victim).toEqual([])
        for (const { kind, follower } of followers) {
          await follower.drain()
          expect(follower.faults, victim).toEqual([])
          const table = await tableRecords(pool, kind, organizationId)
          expect(differences(follower.copy, table), victim).toEqual([])
        }
      }
      const count = async () => {
        const rows = await Promise.all(kinds.map((kind) => tableRecords(pool, kind, organizationId)))
        return rows.flat().length
      }
      await check()
      // What was answered is there: sending it again makes nothing.
      const before = await count()
      const answered = load.posts.filter((post) => post.answered !== null).slice(-20)
      expect((await sendAgain(answered, callOf(services[1]!.url, token))).problems).toEqual([])
      expect(await count()).toBe(before)
      // What was not answered may be there, and is afterwards, once.
      const again = await sendAgain(unanswered, callOf(services[0]!.url, token))
      expect(again.problems).toEqual([])
      const after = await count()
      const committed = again.made - (after - before)
      expect(committed).toBeGreaterThanOrEqual(0)
      expect((await sendAgain(unanswered, callOf(services[1]!.url, token))).problems).toEqual([])
      expect(await count()).toBe(after)
      for (const post of unanswered) settled.add(post)
      report.push(
        `kill -9 of ${victim}: ${load.acknowledged.length - acknowledgedBefore} writes acknowledged, ${inFlight} in flight; ` +
          `${unanswered.length} creations unanswered, ${committed} of them committed; up again in ${revived} ms`,
      )
      await check()
    } finally {
      await pool.end()
    }
  }
  const answers = [...load.tally.keys()].filter((answer) => !expectedAnswers.has(answer))
  expect(answers.filter((answer) => answer !== 'unanswered' && answer !== '500 internal_error')).toEqual([])
  expect((await services[1]!.end('SIGTERM')).code).toBe(0)
  expect((await services[0]!.end('SIGTERM')).code).toBe(0)
  console.log(report.join('\n'))
})
