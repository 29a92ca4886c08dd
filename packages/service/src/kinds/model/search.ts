/**
 * What rows are found by, and how a search asks for it (specification 6.4): words and tags as terms, in one text
 * beside the row that `search_vector` (db/migrations/baseline.ts) makes index entries of, each with the organization in
 * front. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import type { SearchDocument } from '../../journal/change.ts'
import type { Kind, State } from './kind.ts'

/** Of a longer word these first characters are looked at: an index entry has room for 2,046 bytes. */
const longestWord = 255
/** Bytes of one row's entries: PostgreSQL takes a mebibyte. A text that has more is found by its first words. */
const mostBytes = 1_000_000
/** Words that one search may have. */
export const mostSearchWords = 16

/**
 * Marks on one character beyond which the rest is left out: writing has a handful, and putting a row of them in order takes
 * time with its square (64,000 of them: 3 to 6 s, and 2 ms like this).
 */
const tooManyMarks = /(\p{M}{30})\p{M}+/gu

/**
 * What a word is the same without: points of Hebrew and Arabic, which most texts leave out, variation selectors, keycaps, the dot that
 * lower case leaves of `İ`, soft hyphens, and joiners after a vowel sign or a virama.
 */
const unwritten =
  /(?=\p{M})[\u0590-\u06ff\u0890-\u08ff\p{Me}\p{DI}]|(?<=i)\u0307|\u00ad|(?<=(?![\u0590-\u06ff\u0890-\u08ff])\p{M})[\u200c\u200d]/gu

/** A letter or digit, and marks that belong to letters: the vowel signs of most scripts of South and South-East Asia. */
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

/**
 * The words that a search needs to ask for: every word that begins another one of them is implied by that, so repeats
 * and beginnings are left out.
 */
export function neededWords(words: readonly string[]): string[] {
  const sorted = [...words].sort()
  return sorted.filter((word, n) => !(sorted[n + 1]?.startsWith(word) ?? false))
}

/** What the row is found by, when that is not what it was found by before; null when it is, or by nothing. */
export function changedSearchDocument(
  kind: Kind,
  createdAt: string,
  before: State | null,
  after: State,
): SearchDocument | null {
  if (!kind.table.searchable) return null
  // Most changes leave all of that as it is, and a text of 64,000 characters takes a while.
  if (before !== null && isDeepStrictEqual(sourcesOf(kind, after), sourcesOf(kind, before))) return null
  const names = searchedFields(kind)
  const terms = termsOf(names, after)
  return before !== null && terms === termsOf(names, before) ? null : { createdAt, terms }
}

/** The values that words are taken from. */
function sourcesOf(kind: Kind, state: State): readonly unknown[] {
  return [state.tags, ...searchedFields(kind).map((name) => state[name])]
}

function searchedFields(kind: Kind): readonly string[] {
  return kind.fieldNames.filter((name) => kind.fields[name]?.search)
}

/** What a row in this state is found by: its tags, and the words of these fields. */
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

/** No word begins with it, and no term has a space in it. */
function tagTerm(tag: string): string {
  return `#${tag.replaceAll('%', '%25').replaceAll(' ', '%20')}`
}

const prefixLength = 8

/**
 * The tsquery for rows of an organization that have words which begin with each of these, and the tags. As in
 * `search_vector`, the end of the organization's id stands in front of each term: enough of it to tell apart whom an
 * index holds, though not for certain, so who asks names the organization as well.
 */
export function searchQuery(
  organizationId: string,
  asked: { readonly words: readonly string[]; readonly tags: readonly string[] },
): string {
  const prefix = organizationId.slice(-prefixLength)
  const terms = [
    ...asked.words.map((word) => `${quoted(prefix + word)}:*`),
    ...asked.tags.map((tag) => quoted(prefix + tagTerm(tag))),
  ]
  return terms.join(' & ')
}

/** A term of a tsquery, whatever is in it. */
function quoted(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
