import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { createCallThread } from '../../src/kernel/call-thread.ts'

function callThread(idleAfter = 60_000, stopWithin = 5_000) {
  const errors: Error[] = []
  const onError = (error: Error) => errors.push(error)
  const thread = createCallThread<string, string>(import.meta.url, 'call-thread.program', {
    idleAfter,
    stopWithin,
    onError,
  })
  onTestFinished(thread.stop)
  return thread
}

test('starts with the first call, and answers each', async () => {
  const thread = callThread()
  expect(thread.peek('early')).toBe(null)
  const answers = await Promise.all([thread.call('one'), thread.call('two')])
  expect(answers).toEqual([`one ${process.pid}`, `two ${process.pid}`])
  expect(await thread.peek('late')).toBe(`late ${process.pid}`)
})

test('a call that fails leaves the others alone', async () => {
  const thread = callThread()
  const [failed, answered] = await Promise.allSettled([thread.call('throw'), thread.call('one')])
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'no such call' } })
  expect(answered).toMatchObject({ status: 'fulfilled' })
})

test('when the thread ends, calls under way are rejected, and the next call starts another', async () => {
  const thread = callThread()
  const [hanging, ending] = await Promise.allSettled([thread.call('hang'), thread.call('end')])
  for (const call of [hanging, ending])
    expect(call).toMatchObject({ status: 'rejected', reason: { message: 'the thread ended with code 3' } })
  expect(await thread.call('one')).toMatch(/^one/)
})

test('ends when it has been idle, whatever is peeked meanwhile', async () => {
  const thread = callThread(50)
  await thread.call('one')
  await eventually('the thread has ended', async () => (await thread.peek('still there?')) === null)
})

test('a stop terminates a thread that does not end by itself', async () => {
  const thread = callThread(60_000, 50)
  const spinning = expect(thread.call('spin')).rejects.toThrow('the thread ended')
  await thread.stop()
  await spinning
})
