/** Histories by hand: what a write without an answer may explain, and what it may not. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import type { Line, Version } from '../history/format.ts'
import { historyOf } from './recorded.ts'

const [ada, bob] = ['01a1fc80-0000-7000-8000-00000000000a', '01a1fc80-0000-7000-8000-00000000000b'] as const
const at = (n: number) => `2026-01-31T09:30:00.00${n}Z`
const version = (id: string, n: number, by: number): Version => [
  'customer',
  id,
  at(n),
  `000000000000${n}`,
  by,
]

/** A follower has read the first version of a row when it changes, and comes past its place once another row is there. */
function history(between: readonly Line[]): Line[] {
  const last = between.length === 0 ? 2 : 3
  const digests = [`${ada}:${at(6)}`, `${bob}:${at(4)}`].map((text) =>
    createHash('sha256').update(text).digest().readBigUInt64BE(0),
  )
  const digest = BigInt.asUintN(64, digests[0]! + digests[1]!)
    .toString(16)
    .padStart(16, '0')
  return [
    { does: 'ask', n: 0, op: 'create', kind: 'customer' },
    { does: 'told', n: 0, outcome: 'done', version: version(ada, 1, 0) },
    { does: 'follow', follower: 'f', kinds: ['customer'] },
    { does: 'read', follower: 'f', from: 'start' },
    { does: 'page', follower: 'f', versions: [version(ada, 1, 0)], checkpoint: null },
    { does: 'ask', n: 1, op: 'change', kind: 'customer', id: ada },
    { does: 'told', n: 1, outcome: 'done', version: version(ada, 2, 1) },
    ...between,
    { does: 'ask', n: last, op: 'create', kind: 'customer' },
    { does: 'told', n: last, outcome: 'done', version: version(bob, 4, last) },
    { does: 'read', follower: 'f', from: 'next' },
    { does: 'page', follower: 'f', versions: [version(bob, 4, last)], checkpoint: null },
    { does: 'ask', n: last + 1, op: 'change', kind: 'customer', id: ada },
    { does: 'told', n: last + 1, outcome: 'done', version: version(ada, 6, last + 1) },
    { does: 'read', follower: 'f', from: 'next' },
    {
      does: 'page',
      follower: 'f',
      versions: [version(ada, 6, last + 1)],
      checkpoint: { customer: { count: 2, digest } },
    },
    { does: 'stored', versions: [version(bob, 4, last), version(ada, 6, last + 1)] },
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
