/** Several workers, slow ones and dead ones among them: each resolution gets one summary, and everybody a turn. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { day, minute } from '../../../testbed/hooks.ts'
import { heldModel, says, startModel } from '../../../testbed/model.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import {
  act,
  announcements,
  endpointAt,
  jobsOf,
  read,
  resolved,
  say,
  summaryDelay,
  testSummarizer,
} from '../../../testbed/summaries.ts'
import type { Clock } from '../../src/kernel/timestamps.ts'
import { maxAttempts } from '../../src/summarizer/summarizer.ts'

const gaveUp = maxAttempts + 1

test('of many workers at once, one writes each summary', async () => {
  const clock = testClock()
  await using model = await startModel()
  await using service = await testService({ clock })
  const workers = Array.from({ length: 4 }, () => testSummarizer(service, clock, endpointAt(model.url)))
  const apis = [service.api, await service.newOrganization(), await service.newOrganization()]
  const made = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const api = apis[n % 3] as Api
      return { api, ...(await resolved(api, [`Question ${n} of many.`])) }
    }),
  )
  clock.advance(summaryDelay)
  await Promise.all(workers.map(({ engine }) => engine.runDue()))
  for (const { api, id } of made) {
    expect((await read(api, id)).summary).toBe('A summary.')
    expect(await announcements(service, api, id)).toBe(1)
  }
  expect(model.asked).toHaveLength(30)
  expect(await jobsOf(service)).toEqual([])
  for (const worker of workers) await worker[Symbol.asyncDispose]()
})

/** A worker that asks, and hangs in the middle of the request. */
async function inTheMiddle(service: TestService, clock: Clock & { advance(ms: number): void }) {
  const model = await startModel()
  const held = heldModel()
  model.will(held.behaviour)
  const summarizer = testSummarizer(service, clock, endpointAt(model.url))
  const conversation = await resolved(service.api)
  clock.advance(summaryDelay)
  summarizer.engine.wake()
  await held.hanging(1)
  return {
    id: conversation.id as string,
    model,
    engine: summarizer.engine,
    /** It answers; whatever it is asked afterwards is answered at once. */
    release(content: string) {
      model.will(says('Asked again.'))
      held.release(content)
    },
    /** It answers, and the worker does what it then does. */
    async answer(content: string) {
      this.release(content)
      await summarizer.engine.runDue()
    },
    async [Symbol.asyncDispose]() {
      await summarizer[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
    },
  }
}

test.each([
  ['reopened', async (api: Api, id: string) => void (await act(api, id, 'reopen'))],
  [
    'answered by the customer',
    async (api: Api, id: string) => void (await say(api, id, 'But …', 'customer')),
  ],
])('%s in the middle of the request: the result is dropped', async (_title, reopen) => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using it = await inTheMiddle(service, clock)
  await reopen(service.api, it.id)
  await it.answer('Out of date.')
  expect(await read(service.api, it.id)).toMatchObject({ status: 'open', summary: null })
  expect(await announcements(service, service.api, it.id)).toBe(0)
  expect(await jobsOf(service)).toEqual([])
})

test('resolved anew in the middle of the request: the result is dropped, and the delay counts anew', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using it = await inTheMiddle(service, clock)
  await act(service.api, it.id, 'reopen')
  clock.advance(1)
  await act(service.api, it.id, 'resolve')
  await it.answer('Out of date.')
  expect((await read(service.api, it.id)).summary).toBe(null)
  clock.advance(summaryDelay)
  await it.engine.runDue()
  expect((await read(service.api, it.id)).summary).toBe('Asked again.')
  expect(await announcements(service, service.api, it.id)).toBe(1)
})

test('summarized by others in the middle of the request: theirs stays', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using it = await inTheMiddle(service, clock)
  await act(service.api, it.id, 'summarize', { summary: 'Written outside.' })
  await it.answer('Too late.')
  expect((await read(service.api, it.id)).summary).toBe('Written outside.')
  expect(await announcements(service, service.api, it.id)).toBe(1)
})

test('changed in the middle of the request: both changes stand', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using it = await inTheMiddle(service, clock)
  await service.api.patch(`/v1/conversations/${it.id}`, { tags: ['lost'] })
  await it.answer('In time.')
  expect(await read(service.api, it.id)).toMatchObject({ summary: 'In time.', tags: ['lost'] })
})

test('a worker that died: another does it when the lease is over, and what the first still says is dropped', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using first = await inTheMiddle(service, clock)
  await using model = await startModel()
  await using second = testSummarizer(service, clock, endpointAt(model.url))
  clock.advance(minute - 1)
  // The lease: a request's 20 s, and 30.
  const [job] = await jobsOf(service)
  clock.set((job?.due ?? 0) - 1)
  expect(await second.engine.runDue()).toBe(0)
  clock.advance(1)
  expect(await second.engine.runDue()).toBe(1)
  expect((await read(service.api, first.id)).summary).toBe('A summary.')
  await first.answer('Not dead after all.')
  expect((await read(service.api, first.id)).summary).toBe('A summary.')
  expect(await announcements(service, service.api, first.id)).toBe(1)
  expect(await jobsOf(service)).toEqual([])
})

test('a process that always dies in the middle is not tried for ever', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { id } = await resolved(service.api)
  clock.advance(summaryDelay)
  await using worker = testSummarizer(service, clock)
  await service.database.pool.query(
    `insert into summary_jobs (organization_id, conversation_id, resolved_at, due_at, attempts)
       select c.organization_id, c.id, c.resolved_at, c.resolved_at, 14 from conversations c`,
  )
  expect(await worker.engine.runDue()).toBe(1)
  expect(service.logged).toContainEqual(
    expect.objectContaining({ level: 'warn', conversationId: id, attempts: 15 }),
  )
  expect(await jobsOf(service)).toMatchObject([{ id, attempts: gaveUp, due: clock.now() + day }])
})

test('a stop gives back what is under way, as if it had not been claimed', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using it = await inTheMiddle(service, clock)
  await it.engine.stop()
  expect((await read(service.api, it.id)).summary).toBe(null)
  expect(await jobsOf(service)).toMatchObject([{ id: it.id, attempts: 0, due: clock.now() }])
  await using next = testSummarizer(service, clock)
  expect(await next.engine.runDue()).toBe(1)
  expect((await read(service.api, it.id)).summary).toBe('Customer: Where is my parcel?')
})

/** As if so many conversations more had been resolved: copies of this one and its message, but for their ids. */
async function copyOf(service: TestService, id: string, count: number): Promise<void> {
  await service.database.pool.query(
    `with copies as (
        insert into conversations
            (organization_id, id, created_at, updated_at, body, channel, status, handled_by, resolved_at)
          select c.organization_id, n.id, c.created_at, c.updated_at, replace(c.body, c.id::text, n.id::text),
              c.channel, c.status, c.handled_by, c.resolved_at
            from conversations c, (select gen_random_uuid() as id from generate_series(1, $2)) n where c.id = $1
          returning id)
      insert into messages (organization_id, id, created_at, updated_at, body, conversation_id, direction)
        select m.organization_id, gen_random_uuid(), m.created_at, m.updated_at, m.body, n.id, m.direction
          from messages m, copies n where m.conversation_id = $1`,
    [id, count],
  )
}

test('an organization with thousands to do keeps nobody waiting for more than its turn', async () => {
  const clock = testClock()
  await using model = await startModel()
  await using service = await testService({ clock })
  const big = await resolved(service.api)
  await copyOf(service, big.id, 3_000)
  const small = await Promise.all(
    Array.from({ length: 3 }, async (_, n) => {
      const api = await service.newOrganization()
      clock.advance(1)
      return { api, ...(await resolved(api, [`Small ${n} is here.`])) }
    }),
  )
  clock.advance(summaryDelay)
  const held = heldModel()
  model.will(held.behaviour)
  await using worker = testSummarizer(service, clock, endpointAt(model.url))
  worker.engine.start()
  // One of each organization at once, though thousands were resolved before.
  await held.hanging(4)
  const asked = model.asked.map(({ user }) => JSON.parse(user).messages[0].text)
  for (let n = 0; n < 3; n++) expect(asked).toContain(`Small ${n} is here.`)
  model.will(says('A summary.'))
  held.release('A summary.')
  for (const { api, id } of small) {
    await eventually('it has a summary', async () => (await read(api, id)).summary === 'A summary.')
  }
  await worker.engine.stop()
  expect((await jobsOf(service)).length).toBeGreaterThan(2_000)
})

test('conversations that were given up stand in nobody’s way', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const old = await resolved(service.api)
  await copyOf(service, old.id, 8_000)
  await service.database.pool.query(
    `insert into summary_jobs (organization_id, conversation_id, resolved_at, due_at, attempts)
       select c.organization_id, c.id, c.resolved_at, '2100-01-01', 15 from conversations c`,
  )
  const { id } = await resolved(service.api)
  clock.advance(summaryDelay)
  await using worker = testSummarizer(service, clock)
  // One search walks over five thousand of them, the next one goes on from there.
  expect((await worker.engine.runDue()) + (await worker.engine.runDue())).toBe(1)
  expect((await read(service.api, id)).summary).toBe('Customer: Where is my parcel?')
  // And round again: one that was not there when it was passed is found too.
  await service.database.pool.query('delete from summary_jobs where conversation_id = $1', [old.id])
  for (let look = 0; look < 3; look++) await worker.engine.runDue()
  expect((await read(service.api, old.id)).summary).toBe('Customer: Where is my parcel?')
})
