/** An endpoint that fails: tried again for a day, then given up, and nothing is stuck. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { day, hour, minute } from '../../../testbed/hooks.ts'
import { says, startModel } from '../../../testbed/model.ts'
import { answer } from '../../../testbed/receiver.ts'
import { testService } from '../../../testbed/service.ts'
import {
  act,
  announcements,
  endpointAt,
  jobsOf,
  read,
  resolved,
  summaryDelay,
  testSummarizer,
} from '../../../testbed/summaries.ts'
import { maxAttempts } from '../../src/summarizer/summarizer.ts'

async function installation() {
  const clock = testClock()
  const model = await startModel()
  const service = await testService({ clock })
  const summarizer = testSummarizer(service, clock, endpointAt(model.url))
  return {
    clock,
    model,
    service,
    api: service.api,
    engine: summarizer.engine,
    warnings: () => service.logged.filter(({ level }) => level === 'warn'),
    async [Symbol.asyncDispose]() {
      await summarizer[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
    },
  }
}

test('is asked again after a minute, then after two, until it answers', async () => {
  await using it = await installation()
  it.model.will(answer(500), answer(200, 'garbage'), says('It was about a parcel.'))
  const { id } = await resolved(it.api)
  it.clock.advance(summaryDelay)
  await it.engine.runDue()
  for (const delay of [minute, 2 * minute]) {
    expect(await it.engine.runDue()).toBe(0)
    it.clock.advance(delay - 1)
    expect(await it.engine.runDue()).toBe(0)
    expect((await read(it.api, id)).summary).toBe(null)
    it.clock.advance(1)
    expect(await it.engine.runDue()).toBe(1)
  }
  expect((await read(it.api, id)).summary).toBe('It was about a parcel.')
  expect(it.model.asked).toHaveLength(3)
  expect(await announcements(it.service, it.api, id)).toBe(1)
  expect(await jobsOf(it.service)).toEqual([])
  expect(it.warnings()).toEqual([])
})

test('is given up after a day with a warning that names the conversation; others can still write it', async () => {
  await using it = await installation()
  it.model.will(answer(500))
  const { id, updatedAt } = await resolved(it.api, ['The PIN is Rumpelstiltskin.'])
  const since = it.clock.now() + summaryDelay
  for (it.clock.set(since); it.clock.now() < since + 2 * day; it.clock.advance(minute)) {
    if ((await it.engine.runDue()) > 0 && it.warnings().length > 0) break
  }
  expect(it.model.asked).toHaveLength(14)
  expect((it.clock.now() - since) / hour).toBeCloseTo(24.25, 1)
  expect(it.warnings()).toMatchObject([
    { conversationId: id, organizationId: it.api.organizationId, attempts: 14, reason: 'answered 500' },
  ])
  expect(it.warnings()[0]?.msg).toMatch(/summarize/)
  expect(JSON.stringify(it.service.logged)).not.toMatch(/Rumpelstiltskin|sk-secret/)
  // Fourteen failures moved nothing that copies see.
  expect(await read(it.api, id)).toMatchObject({ summary: null, updatedAt })

  // It is not asked about it any more.
  it.model.will(says('Too late.'))
  for (let n = 0; n < 3; n++) {
    it.clock.advance(day)
    await it.engine.runDue()
  }
  expect(it.model.asked).toHaveLength(14)
  expect(await jobsOf(it.service)).toMatchObject([{ id, attempts: maxAttempts + 1 }])

  await act(it.api, id, 'summarize', { summary: 'Written outside.' })
  it.clock.advance(day)
  await it.engine.runDue()
  expect((await read(it.api, id)).summary).toBe('Written outside.')
  expect(await jobsOf(it.service)).toEqual([])
})

test('a resolution after one that was given up begins anew', async () => {
  await using it = await installation()
  it.model.will(answer(500))
  const { id } = await resolved(it.api)
  it.clock.advance(summaryDelay)
  for (let n = 0; n < 14; n++) {
    await it.engine.runDue()
    it.clock.advance(4 * hour)
  }
  expect(await jobsOf(it.service)).toMatchObject([{ id, attempts: maxAttempts + 1 }])
  it.model.will(says('It was about a parcel.'))
  await act(it.api, id, 'reopen')
  await act(it.api, id, 'resolve')
  it.clock.advance(summaryDelay)
  expect(await it.engine.runDue()).toBe(1)
  expect((await read(it.api, id)).summary).toBe('It was about a parcel.')
  expect(await jobsOf(it.service)).toEqual([])
})

test('Retry-After is honoured, for every conversation', async () => {
  await using it = await installation()
  it.model.will(answer(429, '', { 'retry-after': '600' }), says('A summary.'))
  const first = await resolved(it.api)
  it.clock.advance(summaryDelay)
  await it.engine.runDue()
  const second = await resolved(await it.service.newOrganization())
  it.clock.advance(10 * minute - 1)
  expect(await it.engine.runDue()).toBe(0)
  expect(it.model.asked).toHaveLength(1)
  it.clock.advance(1)
  expect(await it.engine.runDue()).toBe(2)
  expect(it.model.asked).toHaveLength(3)
  expect((await jobsOf(it.service)).map(({ id }) => id)).toEqual([])
  expect([first.id, second.id]).toHaveLength(2)
})

test('an answer that is too long is cut at the end of a sentence', async () => {
  await using it = await installation()
  it.model.will(says('This sentence has forty-two characters, 😀. '.repeat(500)))
  const { id } = await resolved(it.api)
  it.clock.advance(summaryDelay)
  await it.engine.runDue()
  const { summary } = await read(it.api, id)
  expect(summary.length).toBeGreaterThan(9_900)
  expect(summary.length).toBeLessThanOrEqual(10_000)
  expect(summary).toMatch(/😀\.$/)
})

test('without a word said, the endpoint is not asked', async () => {
  await using it = await installation()
  const { id } = await resolved(it.api, [])
  it.clock.advance(summaryDelay)
  expect(await it.engine.runDue()).toBe(1)
  expect((await read(it.api, id)).summary).toBe('The parcel')
  expect(it.model.asked).toEqual([])
})

test('a database that fails in the middle: tried again when the lease is over', async () => {
  await using it = await installation()
  const { id } = await resolved(it.api)
  const { pool } = it.service.database
  await pool.query('alter table messages rename to elsewhere')
  it.clock.advance(summaryDelay)
  await it.engine.runDue()
  expect(await jobsOf(it.service)).toMatchObject([{ id, attempts: 1, due: it.clock.now() + 50_000 }])
  expect(it.warnings()).toMatchObject([{ conversationId: id, msg: 'a summary failed' }])
  await pool.query('alter table elsewhere rename to messages')
  expect(await it.engine.runDue()).toBe(0)
  it.clock.advance(minute)
  await it.engine.runDue()
  expect((await read(it.api, id)).summary).toBe('A summary.')
})
