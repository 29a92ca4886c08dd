/**
 * Search (specification 6.4). `search_vector` (db/migrations/baseline/search-vector.sql) indexes a row's search document, with the
 * organization in front of each term. Pure.
 */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SearchDocument } from '../../journal/change.ts'
import type { Kind, State } from './kind.ts'

/** An index entry has at most 2,046 bytes, so longer words are cut. */
const longestWord = 255
/** PostgreSQL allows a mebibyte of entries for a row. A longer text is found by its first words. */
const maxBytes = 1_000_000
export const maxSearchWords = 16

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

/** Scripts without spaces between words. */
const unspaced =
  '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]'
const beginsUnspaced = new RegExp(`^${unspaced}`, 'u')
const anyUnspaced = new RegExp(unspaced, 'u')
const runs = new RegExp(`(?:${unspaced}\\p{M}*)+|(?:(?!${unspaced}).)+`, 'gu')

/**
 * The words of a text as `q` finds them: letters, digits and marks, lower case, compatibility forms folded. A run of an
 * unspaced script is one.
 */
export function searchWords(text: string): string[] {
  // Most texts; the patterns below take ten times as long.
  if (isAscii(text)) return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(cut)
  const words =
    text
      .replace(tooManyMarks, '$1')
      .normalize('NFKC')
      .toLowerCase()
      .replace(unwritten, '')
      .normalize('NFC')
      .match(word) ?? []
  return words
    .flatMap((word) => (anyUnspaced.test(word) ? (word.match(runs) ?? []) : word))
    .map((word) => (isUnspaced(word) ? word : cut(word)))
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

function cut(word: string): string {
  return word.length <= longestWord ? word : [...word].slice(0, longestWord).join('')
}

function isUnspaced(run: string): boolean {
  return run > '\u0e00' && beginsUnspaced.test(run)
}

/** Pairs of a run's letters, in its order; `last`: also its last letter, by which it is found alone. */
function pairsOf(run: string, last: boolean): string[] {
  const letters = run.match(/\P{M}\p{M}*/gu) ?? []
  const pairs = letters.slice(1).map((letter, n) => letters[n] + letter)
  return last || pairs.length === 0 ? [...pairs, ...letters.slice(-1)] : pairs
}

/** What a row with these words is found by. */
function termsOfWords(words: readonly string[]): string[] {
  return words.flatMap((word) => (isUnspaced(word) ? pairsOf(word, true) : word))
}

/** Of these words, the beginnings of terms that a row must have. Of a run, the first pairs are enough. */
export function soughtTerms(words: readonly string[]): string[] {
  return neededWords(
    words.flatMap((word) => (isUnspaced(word) ? pairsOf(word, false).slice(0, maxSearchWords) : word)),
  )
}

/** Without repeats, and without words that begin another one, which they imply. */
export function neededWords(words: readonly string[]): string[] {
  const sorted = [...words].sort()
  return sorted.filter((word, n) => !(sorted[n + 1]?.startsWith(word) ?? false))
}

/** Null when what it is made of does not change, or there is none. */
export function changedSearchDocument(
  kind: Kind,
  createdAt: string,
  before: State | null,
  after: State,
): SearchDocument | null {
  if (!kind.table.searchable) return null
  // Most changes do not touch these fields, and a text of 64,000 characters takes a while.
  if (before !== null && isDeepStrictEqual(sourcesOf(kind, after), sourcesOf(kind, before))) return null
  return { createdAt, terms: searchTerms(kind, after) }
}

function sourcesOf(kind: Kind, state: State): readonly unknown[] {
  return [state.tags, state.customAttributes, ...searchedFields(kind).map((name) => state[name])]
}

function searchedFields(kind: Kind): readonly string[] {
  return kind.fieldNames.filter((name) => kind.fields[name]?.search)
}

/**
 * The first term of every document that this release writes. Documents without it are written again (`backfill.ts`); a
 * migration builds their index anew for another version (`createSearchTable`).
 */
export const documentVersion = '~4'

/** The terms of a document, separated by spaces. The commit adds a number that it assigns. */
export function searchTerms(kind: Kind, state: State): string {
  const tags = (state.tags ?? []) as readonly string[]
  const attributes = Object.entries((state.customAttributes ?? {}) as Readonly<Record<string, unknown>>)
  const terms = new Set([
    ...tags.map(tagTerm),
    ...attributes.map(([name, value]) => attributeTerm(name, value)),
  ])
  const values = attributes.map(([, value]) => value).filter((value) => typeof value !== 'boolean')
  const texts = [...searchedFields(kind).map((name) => state[name]), ...tags, ...values]
  for (const text of texts) {
    if (typeof text !== 'string' && typeof text !== 'number') continue
    for (const term of termsOfWords(searchWords(String(text)))) terms.add(term)
  }
  const number = kind.table.sequence === null ? 0 : state[kind.table.sequence.field]
  return [documentVersion, ...firstTerms(terms), ...(number === 0 ? [] : [String(number)])].join(' ')
}

function firstTerms(terms: ReadonlySet<string>): string[] {
  let bytes = 0
  return [...terms].filter((term) => {
    bytes += Buffer.byteLength(term) + prefixLength
    return bytes <= maxBytes
  })
}

/** No word begins with the prefix of a tag, and no term has a space in it. */
export function tagTerm(tag: string): string {
  return `#${tag.replaceAll('%', '%25').replaceAll(' ', '%20')}`
}

/** Of JSON, in which no name runs into its value, 3 is not "3", and a number is written in one way. */
export function attributeTerm(name: string, value: unknown): string {
  return `=${hash('sha256', JSON.stringify([name, value]), 'base64url').slice(0, 16)}`
}

const prefixLength = 8

/**
 * A tsquery for all of these beginnings of terms, and whole terms. Terms begin with the end of the organization's id, as in
 * `search_vector`; it is not unique, so the statement names the organization as well.
 */
export function searchQuery(
  organizationId: string,
  search: { readonly words: readonly string[]; readonly terms: readonly string[] },
): string {
  const prefix = organizationId.slice(-prefixLength)
  const terms = [
    ...search.words.map((word) => `${quoted(prefix + word)}:*`),
    ...search.terms.map((term) => quoted(prefix + term)),
  ]
  return terms.join(' & ')
}

function quoted(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
