import { expect, test } from 'vitest'
import { singleFlight } from '../../src/kernel/shared-work.ts'

/** A load that answers when it is told to. */
function scripted() {
  const sent: PromiseWithResolvers<string>[] = []
  return {
    sent,
    load() {
      const answer = Promise.withResolvers<string>()
      sent.push(answer)
      return answer.promise
    },
  }
}

test('a crowd that asks for the same takes two look-ups: one of the first, one for all the others', async () => {
  const { sent, load } = scripted()
  const find = singleFlight<string>()
  const values = Array.from({ length: 1_000 }, () => find('page', load))
  expect(sent).toHaveLength(1)
  sent[0]?.resolve('first')
  expect(await values[0]).toBe('first')
  expect(sent).toHaveLength(2)
  sent[1]?.resolve('second')
  expect(new Set(await Promise.all(values.slice(1)))).toEqual(new Set(['second']))
  expect(sent).toHaveLength(2)
})

test('whoever comes when the second was sent already waits for a third', async () => {
  const { sent, load } = scripted()
  const find = singleFlight<string>()
  const [first, second] = [find('page', load), find('page', load)]
  sent[0]?.resolve('first')
  await first
  const third = find('page', load)
  expect(sent).toHaveLength(2)
  sent[1]?.resolve('second')
  expect(await second).toBe('second')
  sent[2]?.resolve('third')
  expect(await third).toBe('third')
})

test('those who ask for different things do not wait for each other', async () => {
  const { sent, load } = scripted()
  const find = singleFlight<string>()
  const one = find('one', load)
  const other = find('other', load)
  sent[1]?.resolve('other')
  expect(await other).toBe('other')
  sent[0]?.resolve('one')
  expect(await one).toBe('one')
})

test('a look-up that fails fails those who share it, and nobody after them', async () => {
  const { sent, load } = scripted()
  const find = singleFlight<string>()
  const values = [find('page', load), find('page', load), find('page', load)]
  const outcomes = Promise.allSettled(values)
  sent[0]?.reject(new Error('lost'))
  await values[0]?.catch(() => {})
  sent[1]?.resolve('second')
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  const later = find('page', load)
  sent[2]?.resolve('third')
  expect(await later).toBe('third')
})
