/** Records that can be left out without a fault are no places for planted faults. */
import { describe, expect, test } from 'vitest'
import { checkHistory } from '../history/check.ts'
import type { Line, Version } from '../history/format.ts'
import { checkpoint, version } from './by-hand.ts'
import { type Plant, plants } from './plant.ts'
import { lostPlants } from './plant-lost.ts'
import { toldPlants } from './plant-told.ts'
import { historyOf } from './recorded.ts'

const [ada, bob, talk, chat] = ['a', 'b', 'c', 'd'].map(
  (digit) => `01a1fc80-0000-7000-8000-00000000000${digit}`,
) as [string, string, string, string]

const conversation = (id: string, n: number, by: number, ...of: string[]) =>
  version('conversation', id, n, by, ...of)
const proof = checkpoint.bind(null, 'conversation')

/** Two conversations, and a follower that has caught up with both. */
const made: readonly Line[] = [
  { does: 'ask', n: 0, op: 'create', kind: 'conversation' },
  { does: 'told', n: 0, outcome: 'done', version: conversation(talk, 1, 0) },
  { does: 'ask', n: 1, op: 'create', kind: 'conversation' },
  { does: 'told', n: 1, outcome: 'done', version: conversation(chat, 2, 1) },
  { does: 'follow', follower: 'conversation/5', kinds: ['conversation'] },
  { does: 'read', follower: 'conversation/5', from: 'start' },
  {
    does: 'page',
    follower: 'conversation/5',
    versions: [conversation(talk, 1, 0), conversation(chat, 2, 1)],
    checkpoint: proof(conversation(talk, 1, 0), conversation(chat, 2, 1)),
  },
]

/** A page of the follower, and its query. */
const page = (
  from: 'next' | 'again',
  versions: readonly Version[],
  held: readonly Version[] | 'more follows',
): readonly Line[] => [
  { does: 'read', follower: 'conversation/5', from },
  {
    does: 'page',
    follower: 'conversation/5',
    versions,
    checkpoint: held === 'more follows' ? null : proof(...held),
  },
]

const changed = (n: number, id: string, moment: number): readonly Line[] => [
  { does: 'ask', n, op: 'change', kind: 'conversation', id },
  { does: 'told', n, outcome: 'done', version: conversation(id, moment, n) },
]

const stored = (...versions: readonly Version[]): Line => ({
  does: 'stored',
  versions,
})

const histories: Readonly<Record<string, readonly Line[]>> = {
  'a version that was moved on before anybody else saw it': [
    ...made,
    { does: 'ask', n: 2, op: 'change', kind: 'conversation', id: talk },
    ...changed(3, chat, 4),
    ...page('next', [conversation(talk, 3, 2), conversation(chat, 4, 3)], 'more follows'),
    ...changed(4, talk, 5),
    ...page('next', [conversation(talk, 5, 4)], [conversation(chat, 4, 3), conversation(talk, 5, 4)]),
    stored(conversation(chat, 4, 3), conversation(talk, 5, 4)),
  ],
  'the last record of a page that comes again, moved on before the next one': [
    ...made,
    { does: 'follow', follower: 'conversation/9', kinds: ['conversation'] },
    { does: 'ask', n: 2, op: 'change', kind: 'conversation', id: talk },
    { does: 'read', follower: 'conversation/9', from: 'start' },
    {
      does: 'page',
      follower: 'conversation/9',
      versions: [conversation(chat, 2, 1), conversation(talk, 3, 2)],
      checkpoint: proof(conversation(chat, 2, 1), conversation(talk, 3, 2)),
    },
    ...page('next', [conversation(talk, 3, 2)], [conversation(chat, 2, 1), conversation(talk, 3, 2)]),
    ...page('again', [conversation(talk, 3, 2)], [conversation(chat, 2, 1), conversation(talk, 3, 2)]),
    ...changed(3, talk, 4),
    ...page('next', [conversation(talk, 4, 3)], [conversation(chat, 2, 1), conversation(talk, 4, 3)]),
    { does: 'read', follower: 'conversation/9', from: 'next' },
    {
      does: 'page',
      follower: 'conversation/9',
      versions: [conversation(talk, 4, 3)],
      checkpoint: proof(conversation(chat, 2, 1), conversation(talk, 4, 3)),
    },
    stored(conversation(chat, 2, 1), conversation(talk, 4, 3)),
  ],
  'a version of a row that belongs to others later, when one of these may have been removed': [
    ...made,
    { does: 'ask', n: 2, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: 2, outcome: 'done', version: conversation(talk, 3, 2, ada) },
    ...changed(3, chat, 4),
    { does: 'ask', n: 4, op: 'remove', kind: 'customer', id: bob },
    ...page('next', [conversation(talk, 3, 2, ada), conversation(chat, 4, 3)], 'more follows'),
    { does: 'ask', n: 5, op: 'change', kind: 'conversation', id: talk },
    { does: 'told', n: 5, outcome: 'done', version: conversation(talk, 5, 5, bob) },
    ...page(
      'next',
      [conversation(talk, 5, 5, bob)],
      [conversation(chat, 4, 3), conversation(talk, 5, 5, bob)],
    ),
    stored(conversation(chat, 4, 3), conversation(talk, 5, 5, bob)),
  ],
}

describe.each(Object.entries(histories))('%s', (_, lines) => {
  test('is no fault', async () => {
    expect((await checkHistory(historyOf([...lines]))).faults).toEqual([])
  })

  test.each(Object.entries({ ...plants, ...lostPlants, ...toldPlants }))(
    'and wherever there can be one, it is found: %s',
    async (_, { sorts, plant }) => {
      for (const planted of everywhere(lines, plant)) {
        const { counts } = await checkHistory(historyOf(planted))
        expect(sorts.some((sort) => counts[sort] > 0)).toBe(true)
      }
    },
  )
})

/** A fault at each of its places; where several choices are needed, the first of each further one. */
function* everywhere(lines: readonly Line[], plant: Plant['plant']): Iterable<Line[]> {
  for (let n = 0, places = 1; n < places; n++) {
    let chosen = false
    const planted = plant(lines, (of) => {
      if (chosen) return of[0]
      chosen = true
      places = of.length
      return of[n]
    })
    if (planted !== null) yield planted
  }
}
