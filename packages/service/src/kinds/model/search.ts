/**
 * Search (specification 6.4). `search_vector` (db/migrations/baseline.ts) indexes a row's search document, with the
 * organization in front of each term. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import type { SearchDocument } from '../../journal/change.ts'
import type { Kind, State } from './kind.ts'

/** An index entry has at most 2,046 bytes, so longer words are cut. */
const longestWord = 255
/** PostgreSQL allows a mebibyte of entries for a row. A longer text is found by its first words. */
const mostBytes = 1_000_000
export const mostSearchWords = 16

/** Further marks on a character are dropped, as normalizing takes time quadratic in them: 64,000 took some seconds. */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu

/**
 * Characters that do not distinguish words: points of Hebrew and Arabic, variation selectors, keycaps, the dot that
 * lower case leaves of `İ`, soft hyphens, and joiners after a vowel sign or a virama.
 */
const unwritten =
  /(?=\p{M})[\u0590-\u06ff\u0890-\u08ff\p{Me}\p{DI}]|(?<=i)\u0307|\u00ad|(?<=(?![\u0590-\u06ff\u0890-\u08ff])\p{M})[\u200c\u200d]/gu

/** Marks belong to letters: the vowel signs of most scripts of South and South-East Asia. */
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

/** The words of a text as `q` finds them: letters, digits and marks, lower case, compatibility forms folded. */
export function searchWords(text: string): string[] {
  const words =
    text
      .replace(tooManyMarks, '$1')
      .normalize('NFKC')
      .toLowerCase()
      .replace(unwritten, '')
      .normalize('NFC')
      .match(word) ?? []
  return words.map((word) => (word.length <= longestWord ? word : [...word].slice(0, longestWord).join('')))
}

/** Without repeats, and without words that begin another one, which they imply. */
export function neededWords(words: readonly string[]): string[] {
  const sorted = [...words].sort()
  return sorted.filter((word, n) => !(sorted[n + 1]?.startsWith(word) ?? false))
}

/** Null when it does not change, or there is none. */
export function changedSearchDocument(
  kind: Kind,
  createdAt: string,
  before: State | null,
  after: State,
): SearchDocument | null {
  if (!kind.table.searchable) return null
  // Most changes do not touch these fields, and a text of 64,000 characters takes a while.
  if (before !== null && isDeepStrictEqual(sourcesOf(kind, after), sourcesOf(kind, before))) return null
  const names = searchedFields(kind)
  const terms = termsOf(names, after)
  return before !== null && terms === termsOf(names, before) ? null : { createdAt, terms }
}

function sourcesOf(kind: Kind, state: State): readonly unknown[] {
  return [state.tags, ...searchedFields(kind).map((name) => state[name])]
}

function searchedFields(kind: Kind): readonly string[] {
  return kind.fieldNames.filter((name) => kind.fields[name]?.search)
}

function termsOf(names: readonly string[], state: State): string {
  const tags = (state.tags ?? []) as readonly string[]
  const terms = new Set(tags.map(tagTerm))
  for (const name of names) {
    const value = state[name]
    if (typeof value !== 'string') continue
    for (const word of searchWords(value)) terms.add(word)
  }
  return firstTerms(terms).join(' ')
}

function firstTerms(terms: ReadonlySet<string>): string[] {
  let bytes = 0
  return [...terms].filter((term) => {
    bytes += Buffer.byteLength(term) + prefixLength
    return bytes <= mostBytes
  })
}

/** No word begins with the prefix of a tag, and no term has a space in it. */
function tagTerm(tag: string): string {
  return `#${tag.replaceAll('%', '%25').replaceAll(' ', '%20')}`
}

const prefixLength = 8

/**
 * A tsquery for all of these words' beginnings and tags. Terms begin with the end of the organization's id, as in
 * `search_vector`; it is not unique, so the statement names the organization as well.
 */
export function searchQuery(
  organizationId: string,
  search: { readonly words: readonly string[]; readonly tags: readonly string[] },
): string {
  const prefix = organizationId.slice(-prefixLength)
  const terms = [
    ...search.words.map((word) => `${quoted(prefix + word)}:*`),
    ...search.tags.map((tag) => quoted(prefix + tagTerm(tag))),
  ]
  return terms.join(' & ')
}

function quoted(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
