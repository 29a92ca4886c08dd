/** Histories by hand: what a write may explain that nobody was shown, and what it may not. */
import { expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import type { Line } from '../history/format.ts'
import { checkpoint, version } from './by-hand.ts'
import { historyOf } from './recorded.ts'

const [ada, bob] = ['01a1fc80-0000-7000-8000-00000000000a', '01a1fc80-0000-7000-8000-00000000000b'] as const
const customer = (id: string, n: number, by: number) => version('customer', id, n, by)

/** A follower has read the first version of a row when it changes, and comes past its place once another row is there. */
function history(between: readonly Line[]): Line[] {
  const last = between.length === 0 ? 2 : 3
  const copy = [customer(bob, 4, last), customer(ada, 6, last + 1)]
  return [
    { does: 'ask', n: 0, op: 'create', kind: 'customer' },
    { does: 'told', n: 0, outcome: 'done', version: customer(ada, 1, 0) },
    { does: 'follow', follower: 'f', kinds: ['customer'] },
    { does: 'read', follower: 'f', from: 'start' },
    { does: 'page', follower: 'f', versions: [customer(ada, 1, 0)], checkpoint: null },
    { does: 'ask', n: 1, op: 'change', kind: 'customer', id: ada },
    { does: 'told', n: 1, outcome: 'done', version: customer(ada, 2, 1) },
    ...between,
    { does: 'ask', n: last, op: 'create', kind: 'customer' },
    { does: 'told', n: last, outcome: 'done', version: customer(bob, 4, last) },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [customer(bob, 4, last)], checkpoint: null },
    { does: 'ask', n: last + 1, op: 'change', kind: 'customer', id: ada },
    { does: 'told', n: last + 1, outcome: 'done', version: customer(ada, 6, last + 1) },
    { does: 'read', follower: 'f', from: 'next' },
    {
      does: 'page',
      follower: 'f',
      versions: [customer(ada, 6, last + 1)],
      checkpoint: checkpoint('customer', ...copy),
    },
    { does: 'stored', versions: copy },
  ]
}

test('a version that a reader went past is lost, when nobody else may have moved its row', async () => {
  const { faults } = await checkHistory(historyOf(history([])))
  expect(faults.map(({ sort }) => sort)).toEqual(['lost'])
})

test('and it is not, when a write that was never answered may have moved it further on', async () => {
  const unanswered: Line = { does: 'ask', n: 2, op: 'change', kind: 'customer', id: ada }
  expect((await checkHistory(historyOf(history([unanswered])))).faults).toEqual([])
})

const talk = '01a1fc80-0000-7000-8000-00000000000c'

/** A conversation that is changed, perhaps moved by a message, passed by a reader, and changed again. */
function conversation(message: readonly Line[]): Line[] {
  const next = message.length === 0 ? 2 : 3
  const other = version('conversation', bob, 4, next)
  const last = version('conversation', talk, 6, next + 1)
  return [
    { does: 'ask', n: 0, op: 'create', kind: 'conversation' },
    { does: 'told', n: 0, outcome: 'done', version: version('conversation', talk, 1, 0) },
    { does: 'follow', follower: 'f', kinds: ['conversation'] },
    { does: 'read', follower: 'f', from: 'start' },
    { does: 'page', follower: 'f', versions: [version('conversation', talk, 1, 0)], checkpoint: null },
    { does: 'ask', n: 1, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: 1, outcome: 'done', version: version('conversation', talk, 2, 1) },
    ...message,
    { does: 'ask', n: next, op: 'create', kind: 'conversation' },
    { does: 'told', n: next, outcome: 'done', version: other },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [other], checkpoint: null },
    { does: 'ask', n: next + 1, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: next + 1, outcome: 'done', version: last },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [last], checkpoint: checkpoint('conversation', other, last) },
  ]
}

const messageTo = (id: string): Line[] => [
  { does: 'ask', n: 2, op: 'create', kind: 'message', touches: id },
  { does: 'told', n: 2, outcome: 'done', version: version('message', ada, 3, 2, id) },
]

test('nor is it when an acknowledged write has moved its row on, and was itself moved on before anybody looked', async () => {
  expect((await checkHistory(historyOf(conversation([])))).faults.map(({ sort }) => sort)).toEqual(['lost'])
  expect((await checkHistory(historyOf(conversation(messageTo(talk))))).faults).toEqual([])
  const elsewhere = await checkHistory(historyOf(conversation(messageTo(bob))))
  expect(elsewhere.faults.map(({ sort }) => sort)).toContain('lost')
})

/** A customer is removed, and with it tickets of which nobody has seen anything before. */
function cascade(tickets: readonly string[], unanswered: number): Line[] {
  const gone = tickets.map((id) => version('ticket', id, 4, null))
  return [
    { does: 'ask', n: 0, op: 'create', kind: 'customer' },
    { does: 'told', n: 0, outcome: 'done', version: version('customer', ada, 1, 0) },
    ...Array.from(
      { length: unanswered },
      (_, n): Line => ({ does: 'ask', n: n + 1, op: 'create', kind: 'ticket' }),
    ),
    { does: 'ask', n: unanswered + 1, op: 'remove', kind: 'customer', id: ada },
    { does: 'told', n: unanswered + 1, outcome: 'done' },
    { does: 'stored', versions: [version('customer', ada, 4, null), ...gone] },
  ]
}

test.each([
  { tickets: [bob], unanswered: 1, invented: 0 },
  { tickets: [bob, talk], unanswered: 2, invented: 0 },
  { tickets: [bob], unanswered: 0, invented: 1 },
  { tickets: [bob, talk], unanswered: 1, invented: 1 },
])(
  '$tickets.length rows of which only the removal was ever seen, and $unanswered creations without an answer: $invented invented',
  async ({ tickets, unanswered, invented }) => {
    const { faults } = await checkHistory(historyOf(cascade(tickets, unanswered)))
    expect(faults.map(({ sort }) => sort)).toEqual(Array(invented).fill('invented'))
  },
)
