/** The loop of background jobs, with jobs in memory. */
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type JobLoopOptions, jobLoop } from '../../src/kernel/job-loop.ts'

interface Job {
  readonly organizationId: string
  readonly n: number
}

/** A loop over these jobs: each ends when `end` is called, and is due until then. */
function loopOver(due: Job[], options: Partial<JobLoopOptions<Job>> = {}) {
  const begun: { readonly job: Job; readonly end: (came: 'done' | 'busy' | Error) => void }[] = []
  const failures: (Job | null)[] = []
  const loop = jobLoop<Job>({
    every: null,
    stopWithin: 60_000,
    atOnce: 3,
    busyPause: 60_000,
    async findDue(limit, except) {
      return due.filter(({ organizationId }) => !except.includes(organizationId)).slice(0, limit)
    },
    run(job) {
      const { promise, resolve, reject } = Promise.withResolvers<'done' | 'busy'>()
      begun.push({
        job,
        end(came) {
          if (came instanceof Error) return reject(came)
          if (came === 'done') due.splice(due.indexOf(job), 1)
          resolve(came)
        },
      })
      return promise
    },
    onFailure: (_error, job) => failures.push(job),
    ...options,
  })
  onTestFinished(async () => {
    for (const { end } of begun) end('done')
    await loop.stop()
  })
  return { loop, begun, failures, names: () => begun.map(({ job }) => `${job.organizationId}${job.n}`) }
}

const jobs = (...names: string[]): Job[] =>
  names.map((name) => ({ organizationId: name.slice(0, 1), n: Number(name.slice(1)) }))

test('does one job of an organization at a time, and others meanwhile', async () => {
  const { loop, begun, names } = loopOver(jobs('a1', 'a2', 'b1', 'c1', 'd1'))
  loop.start()
  await eventually('three are begun', () => begun.length === 3)
  expect(names()).toEqual(['a1', 'b1', 'c1'])
  begun[0]?.end('done')
  await eventually('the next is begun', () => begun.length === 4)
  expect(names()[3]).toBe('a2')
})

test('leaves an organization alone after a job that was busy or failed, and no other', async () => {
  const { loop, begun, failures, names } = loopOver(jobs('a1', 'b1', 'c1', 'd1', 'e1'), { atOnce: 1 })
  loop.start()
  await eventually('the first is begun', () => begun.length === 1)
  begun[0]?.end('busy')
  await eventually('the second is begun', () => begun.length === 2)
  begun[1]?.end(new Error('broken'))
  await eventually('the third is begun', () => begun.length === 3)
  expect(names()).toEqual(['a1', 'b1', 'c1'])
  expect(failures).toEqual(jobs('b1'))
})

test('waits at a stop for what is under way, and begins no more', async () => {
  const { loop, begun } = loopOver(jobs('a1', 'b1'), { atOnce: 1 })
  loop.start()
  await eventually('the first is begun', () => begun.length === 1)
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  await new Promise(setImmediate)
  expect(stopped).toBe(false)
  begun[0]?.end('done')
  await stopping
  expect(begun).toHaveLength(1)
})

test('runs all due jobs once woken, except busy ones', async () => {
  const due = jobs('a1', 'b1', 'b2', 'c1')
  const { loop } = loopOver(due, {
    async run(job) {
      if (job.organizationId === 'a') return 'busy'
      due.splice(due.indexOf(job), 1)
      return 'done'
    },
  })
  loop.wake()
  await eventually('nothing is under way', () => loop.isIdle)
  expect(due).toEqual(jobs('a1'))
})
