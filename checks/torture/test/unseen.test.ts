/** Handwritten histories: what unseen writes may explain, and what not. */
import { expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import type { Line } from '../history/format.ts'
import { checkpoint, version } from './by-hand.ts'
import { historyOf } from './recorded.ts'

const [ada, bob, cy] = ['a', 'b', 'f'].map((one) => `01a1fc80-0000-7000-8000-00000000000${one}`) as [
  string,
  string,
  string,
]
const customer = (id: string, n: number, by: number) => version('customer', id, n, by)

/** A follower has read a row's first version when it changes, and passes its position once another row exists. */
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

/** A reader passes a row twice, each time after a change, while so many of its changes have no response. */
function passedTwice(unanswered: number): Line[] {
  const asks = Array.from(
    { length: unanswered },
    (_, n): Line => ({ does: 'ask', n: n + 1, op: 'change', kind: 'customer', id: ada }),
  )
  const change = (n: number, time: number): Line[] => [
    { does: 'ask', n, op: 'change', kind: 'customer', id: ada },
    { does: 'told', n, outcome: 'done', version: customer(ada, time, n) },
  ]
  const creation = (n: number, id: string, time: number): Line[] => [
    { does: 'ask', n, op: 'create', kind: 'customer' },
    { does: 'told', n, outcome: 'done', version: customer(id, time, n) },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [customer(id, time, n)], checkpoint: null },
  ]
  const n = unanswered + 1
  const copy = [customer(bob, 3, n + 1), customer(cy, 5, n + 3), customer(ada, 6, n + 4)]
  return [
    ...history([]).slice(0, 5),
    ...asks,
    ...change(n, 2),
    ...creation(n + 1, bob, 3),
    ...change(n + 2, 4),
    ...creation(n + 3, cy, 5),
    ...change(n + 4, 6),
    { does: 'read', follower: 'f', from: 'next' },
    {
      does: 'page',
      follower: 'f',
      versions: [customer(ada, 6, n + 4)],
      checkpoint: checkpoint('customer', ...copy),
    },
    { does: 'stored', versions: copy },
  ]
}

test.each([
  { unanswered: 0, lost: 2 },
  { unanswered: 1, lost: 1 },
  { unanswered: 2, lost: 0 },
])(
  '$unanswered such writes have moved that many of two versions: $lost lost',
  async ({ unanswered, lost }) => {
    const { faults } = await checkHistory(historyOf(passedTwice(unanswered)))
    expect(faults.map(({ sort }) => sort)).toEqual(Array(lost).fill('lost'))
  },
)

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

/** A message that moves its conversation, sent before a change that is made before it. */
function overtaken(moves: string, answered: boolean): Line[] {
  const lines = conversation([])
  const other = version('conversation', bob, 4, 3)
  const last = version('conversation', talk, 6, 4)
  const message: Line[] = [
    { does: 'told', n: 1, outcome: 'done', version: version('message', ada, 3, 1, moves) },
  ]
  return [
    ...lines.slice(0, 5),
    { does: 'ask', n: 1, op: 'create', kind: 'message', touches: moves },
    { does: 'ask', n: 2, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: 2, outcome: 'done', version: version('conversation', talk, 2, 2) },
    ...(answered ? message : []),
    { does: 'ask', n: 3, op: 'create', kind: 'conversation' },
    { does: 'told', n: 3, outcome: 'done', version: other },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [other], checkpoint: null },
    { does: 'ask', n: 4, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: 4, outcome: 'done', version: last },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [last], checkpoint: checkpoint('conversation', other, last) },
  ]
}

test.each([true, false])(
  'a write that moved it may have been sent before the version was (answered: %s)',
  async (answered) => {
    expect((await checkHistory(historyOf(overtaken(talk, answered)))).faults).toEqual([])
    const elsewhere = await checkHistory(historyOf(overtaken(bob, answered)))
    expect(elsewhere.faults.map(({ sort }) => sort)).toContain('lost')
  },
)

/** A customer is removed with tickets that nobody has seen before. */
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
