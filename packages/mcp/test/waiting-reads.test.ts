/** Streams of one caller that wait for the same events share one read, and each ends by its own signal. */
import { expect, test } from 'vitest'
import { type Page, WaitingReads } from '../src/event-log.ts'

const page: Page = { data: [], pagination: { nextCursor: 'next', hasMore: false } }

test('one that shares a read ends with its own signal, and the read goes on for the others', async () => {
  const waiting = new WaitingReads()
  const { promise, resolve } = Promise.withResolvers<Page>()
  const share = (signal: AbortSignal) => waiting.share('same', signal, () => promise)
  const leaving = new AbortController()
  const reading = share(new AbortController().signal)
  const left = share(leaving.signal)
  const staying = share(new AbortController().signal)
  leaving.abort(new Error('the client has gone'))
  await expect(left).rejects.toThrow('the client has gone')
  resolve(page)
  expect(await Promise.all([reading, staying])).toEqual([page, page])
})

test('where the one that reads ends, another reads instead', async () => {
  const waiting = new WaitingReads()
  const leaving = new AbortController()
  const { promise, reject } = Promise.withResolvers<Page>()
  const left = waiting.share('same', leaving.signal, () => promise)
  const staying = waiting.share('same', new AbortController().signal, async () => page)
  leaving.abort()
  reject(leaving.signal.reason)
  await expect(left).rejects.toThrow()
  expect(await staying).toEqual(page)
})
