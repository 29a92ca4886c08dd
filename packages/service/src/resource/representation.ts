/**
 * An object's one representation: made when its row is written, stored, and sent as it is by every reader. Its end is the
 * commit's (`journal/body.ts`), so it is made here only up to there.
 */
import { isDeepStrictEqual } from 'node:util'
import { bodyHead } from '../journal/body.ts'
import type { Words } from '../journal/change.ts'
import type { Kind, State } from './kind.ts'

export interface Identity {
  readonly id: string
  readonly organizationId: string
  readonly createdAt: string
}

export interface StoredObject extends Identity {
  readonly state: State
  readonly updatedAt: string
}

/** The head of the representation. */
export function representationHead(kind: Kind, identity: Identity, state: State, isNew: boolean): string {
  const { id, organizationId, createdAt } = identity
  const shown: Record<string, unknown> = { id, object: kind.name, organizationId, createdAt }
  for (const name of kind.representationOrder) {
    if (isNew && kind.fields[name]?.sequence) continue
    shown[name] = state[name]
  }
  return bodyHead(shown)
}

/** The object that a stored body shows. */
export function parseRepresentation(kind: Kind, body: string): StoredObject {
  const shown = JSON.parse(body) as Record<string, unknown> & Identity & { updatedAt: string }
  const state = Object.fromEntries(kind.fieldNames.map((name) => [name, shown[name]]))
  const { id, organizationId, createdAt, updatedAt } = shown
  return { id, organizationId, createdAt, updatedAt, state }
}

/** The values of the row's own columns, from the same state as the body. */
export function columnValues(kind: Kind, state: State): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.column === null || field.sequence) continue
    values[field.column.name] = field.stored === undefined ? state[name] : field.stored(state[name])
  }
  return values
}

/** What the row is found by, when that is not what it was found by before; null when it is, or by nothing. */
export function changedWords(kind: Kind, before: State | null, after: State): Words | null {
  if (!kind.table.words) return null
  // Most changes leave all of that as it is, and a text of 64,000 characters takes a while.
  if (before !== null && isDeepStrictEqual(sourcesOf(kind, after), sourcesOf(kind, before))) return null
  const words = wordsOf(kind, after)
  if (before !== null && isDeepStrictEqual(words, wordsOf(kind, before))) return null
  return words
}

/** The values that words are taken from. */
function sourcesOf(kind: Kind, state: State): readonly unknown[] {
  return [
    state.tags,
    ...kind.fieldNames.filter((name) => kind.fields[name]?.search).map((name) => state[name]),
  ]
}

function wordsOf(kind: Kind, state: State): Words {
  const search: string[] = []
  for (const name of kind.fieldNames) {
    const value = state[name]
    if (kind.fields[name]?.search && typeof value === 'string') {
      for (const word of searchWords(value)) search.push(word)
    }
  }
  return { tags: (state.tags ?? []) as readonly string[], search: search.join(' ') }
}

/**
 * Marks on one character beyond which the rest is left out: writing has a handful, and putting a row of them in order takes
 * time with its square (64,000 of them: 3 to 6 s, and 2 ms like this). They are no letters of a word in any case.
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu

/** The words of a text as `q` finds them: letters and digits, lower case, compatibility forms folded. */
export function searchWords(text: string): string[] {
  return (
    text
      .replace(tooManyMarks, '$1')
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
