/** The thread of the summarizer: one that ends is replaced, one that is told to stop ends. */
import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { logOptions } from '../../src/kernel/log.ts'
import { superviseSummarizer } from '../../src/roles/supervise-thread.ts'

const address = { url: 'postgres://nobody@127.0.0.1:1/nothing' }

function supervise(summaries: object, isNeeded = async () => true) {
  const logged: { msg: string }[] = []
  const log = pino({ ...logOptions, level: 'error' }, { write: (line) => logged.push(JSON.parse(line)) })
  const orders = { summaries: summaries as never, maxAttempts: 6, workerId: randomUUID() }
  const thread = superviseSummarizer(orders, log, { isNeeded, releaseLeases: async () => {} })
  thread.serve(address)
  return { logged, thread }
}

test('one that cannot run is replaced until it is told to stop, and the log says why', async () => {
  // An address that cannot be: what the settings never let through.
  const { logged, thread } = supervise({ delay: 1, endpoint: { url: null } })
  const ends = () => logged.filter(({ msg }) => msg === 'the summarizer ended; it is replaced')
  await eventually('it ended twice', () => ends().length >= 2)
  expect(logged.filter(({ msg }) => msg === 'the summarizer failed')[0]).toMatchObject({
    err: { message: expect.stringContaining('null') },
  })
  await thread.stop()
})

test('one whose database does not answer runs, and stops', async () => {
  const { logged, thread } = supervise({ delay: 1, endpoint: null })
  await thread.stop()
  expect(logged).toEqual([])
})

test('one that has nothing to do is not begun until there is something', async () => {
  let looks = 0
  let needed = false
  // It would end at once, which the log would say.
  const { logged, thread } = supervise({ delay: 1, endpoint: { url: null } }, async () => {
    looks++
    return needed
  })
  await eventually('it was looked twice', () => looks >= 2)
  expect(logged).toEqual([])
  needed = true
  await eventually('it was begun', () => logged.length > 0)
  const then = looks
  await eventually('it is replaced', () => logged.length > 3)
  expect(looks).toBe(then)
  await thread.stop()
})
