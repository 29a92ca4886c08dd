/** The jobs of a summarizer that died, given back by whoever knows of its death. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { hour, minute } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { jobsOf, resolved, summaryDelay } from '../../../testbed/summaries.ts'
import { createJobs, firstConversation } from '../../src/summarizer/jobs.ts'

test('are begun again at once, and later after longer and longer; those of others are left', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const jobs = createJobs(service.database.pool)
  const { organizationId } = service.api
  for (let n = 0; n < 2; n++) await resolved(service.api)
  clock.advance(summaryDelay)
  await jobs.enqueue(clock.now() - summaryDelay, firstConversation)
  const [dead, living] = [randomUUID(), randomUUID()]
  const take = (workerId: string) =>
    jobs.claim(organizationId, { id: randomUUID(), workerId, until: clock.now() + hour }, clock.now(), 1)
  const [job] = await take(dead)
  expect(await take(living)).toHaveLength(1)
  const waits: number[] = []
  for (let death = 1; death <= 4; death++) {
    expect(await jobs.releaseAllOf(dead, clock.now())).toBe(1)
    expect(await jobs.releaseAllOf(dead, clock.now())).toBe(0)
    const row = (await jobsOf(service)).find(({ id }) => id === job!.conversationId)
    expect(row).toMatchObject({ leased: false, attempts: death })
    waits.push((row!.due - clock.now()) / minute)
    clock.set(row!.due)
    expect(await take(dead)).toMatchObject([{ conversationId: job!.conversationId, attempts: death + 1 }])
  }
  expect(waits).toEqual([0, 1, 2, 4])
  expect((await jobsOf(service)).find(({ id }) => id !== job!.conversationId)).toMatchObject({ leased: true })
})
