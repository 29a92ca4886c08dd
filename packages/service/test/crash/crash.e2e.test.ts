/**
 * kill -9 of everything under load: what was acknowledged is there, followers go on from their cursors, and what is sent
 * again is not made twice. Of one process after another: delivery.e2e.test.ts.
 */
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { differences, follow, tableRecords } from '../../../testbed/follower.ts'
import { httpReader } from '../../../testbed/http-follower.ts'
import { install } from '../../../testbed/installation.ts'
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

  const writing = writers(load, services, token, 0)
  for (const { follower } of followers) await follower.poll()
  const moment = 60 + Math.floor(dice(Date.now())() * 120)
  await eventually('writes are acknowledged', () => load.acknowledged.length >= moment)
  const inFlight = load.inFlight
  kill(await installation.postmasterPid())
  for (const service of services) await service.end('SIGKILL')
  await writing.stop()
  const unanswered = load.posts.filter((post) => post.answered === null)
  const since = performance.now()
  services = [await installation.start('holder')]
  services.push(await installation.start('beside'))
  const revived = Math.round(performance.now() - since)
  current = services[1]!.url

  const pool = await installation.connect()
  try {
    const check = async () => {
      expect(await lost(pool, organizationId, load.acknowledged)).toEqual([])
      expect(await audit(pool, organizationId)).toEqual([])
      for (const { kind, follower } of followers) {
        await follower.drain()
        expect(follower.faults).toEqual([])
        const table = await tableRecords(pool, kind, organizationId)
        expect(differences(follower.copy, table)).toEqual([])
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
    console.log(
      `kill -9 of everything: ${load.acknowledged.length} writes acknowledged, ${inFlight} in flight; ` +
        `${unanswered.length} creations unanswered, ${committed} of them committed; up again in ${revived} ms`,
    )
    await check()
  } finally {
    await pool.end()
  }
  const answers = [...load.tally.keys()].filter((answer) => !expectedAnswers.has(answer))
  expect(answers.filter((answer) => answer !== 'unanswered' && answer !== '500 internal_error')).toEqual([])
  expect((await services[1]!.end('SIGTERM')).code).toBe(0)
  expect((await services[0]!.end('SIGTERM')).code).toBe(0)
})
