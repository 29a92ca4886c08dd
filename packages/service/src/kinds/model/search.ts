/**
 * Search (specification 6.4). `search_vector` (db/migrations/baseline/search-vector.sql) indexes a row's search
 * document, with the organization in front of each term. Pure.
 */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SearchDocument } from '../../journal/change.ts'
import { fold, isAscii, joiner } from './fold.ts'
import type { Kind, State } from './kind.ts'

/** An index entry has at most 2,046 bytes, so longer words are cut. */
const longestWord = 255
/** PostgreSQL allows a mebibyte of entries for a row. A longer text is found by its first words. */
const maxBytes = 1_000_000
export const maxSearchWords = 16

/** Of a folded text. Marks belong to letters: the vowel signs of most scripts of South and South-East Asia. */
const letters = '[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}]*'
const written = new RegExp(`${letters}(?:${joiner}${letters})*`, 'gu')
const writtenInAscii = new RegExp(`[a-z0-9]+(?:${joiner}[a-z0-9]+)*`, 'g')

/** Scripts without spaces between words. */
const unspaced =
  '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]'
const beginsUnspaced = new RegExp(`^${unspaced}`, 'u')
const anyUnspaced = new RegExp(unspaced, 'u')
const runs = new RegExp(`(?:${unspaced}\\p{M}*)+|(?:(?!${unspaced}).)+`, 'gu')

/** What `q` asks for. A row must have all of it. */
export interface Sought {
  /** Beginnings of terms. */
  readonly words: readonly string[]
  /** Each: all of these beginnings of terms, or the other one. */
  readonly choices: readonly { readonly all: readonly string[]; readonly or: string }[]
  /** Parts of its texts without spaces, as the pairs of such a part may be anywhere in a text. */
  readonly parts: readonly string[]
}

/**
 * The words of a text as `q` finds them: letters, digits and marks, folded. A run of an unspaced script is one;
 * `O'Brien` is two.
 */
export function searchWords(text: string): string[] {
  return writtenWords(fold(text))
    .flatMap((word) => word.split(joiner))
    .flatMap(unspacedApart)
}

/** With joiners in them. */
function writtenWords(folded: string): readonly string[] {
  return folded.match(isAscii(folded) ? writtenInAscii : written) ?? []
}

/** A word, or its runs where a part of it is of an unspaced script. */
function unspacedApart(word: string): readonly string[] {
  return hasUnspaced(word) ? (word.match(runs) ?? []).map(cut) : [cut(word)]
}

function hasUnspaced(word: string): boolean {
  return !isAscii(word) && anyUnspaced.test(word)
}

function cut(word: string): string {
  return word.length <= longestWord || isUnspaced(word) ? word : [...word].slice(0, longestWord).join('')
}

function isUnspaced(run: string): boolean {
  return run > '\u0e00' && beginsUnspaced.test(run)
}

function withoutJoiners(word: string): string {
  return word.replaceAll(joiner, '')
}

function lettersOf(run: string): readonly string[] {
  return run.match(/\P{M}\p{M}*/gu) ?? []
}

/** Pairs of a run's letters, in its order; `last`: also its last letter, by which it is found alone. */
function pairsOf(run: string, last: boolean): string[] {
  const letters = lettersOf(run)
  const pairs = letters.slice(1).map((letter, n) => letters[n] + letter)
  return last || pairs.length === 0 ? [...pairs, ...letters.slice(-1)] : pairs
}

/** `O'Brien` as a whole, which its first part begins, and its other parts. The whole has the pairs of all parts. */
function joinedWords(word: string): readonly string[] {
  const others = word.split(joiner).slice(1)
  return [withoutJoiners(word), ...others.filter((part) => !hasUnspaced(part))]
}

/** Adds what a row with this text is found by, and its words that are not found by terms alone. */
function addTerms(text: string, terms: Set<string>, unspacedWords: Set<string>): void {
  const folded = fold(text)
  const isSpaced = !hasUnspaced(folded)
  for (const word of writtenWords(folded)) {
    const all = word.includes(joiner) ? joinedWords(word) : [word]
    for (const one of all) {
      if (isSpaced || !hasUnspaced(one)) {
        terms.add(one.length <= longestWord ? one : cut(one))
        continue
      }
      unspacedWords.add(one)
      for (const run of unspacedApart(one)) {
        if (isUnspaced(run)) for (const pair of pairsOf(run, true)) terms.add(pair)
        else terms.add(run)
      }
    }
  }
  if (e164.test(text)) terms.add(phoneTerm(text.slice(1)))
}

const e164 = /^\+[1-9]\d{6,14}$/

/** Digits and what people put between them, of which a copied number may have invisible ones around it. */
const phoneNumber = /(?=[+(\d])(?<![\p{L}\p{N}])[+(]?\d[\d\s()./\p{Pd}\p{Cf}]{0,40}\d(?![\p{L}\p{N}])/gu
const fewestPhoneDigits = 6
const mostPhoneDigits = 15

/** A term that begins with the last digits of a number: without its country or area it is a beginning of the term. */
function phoneTerm(digits: string): string {
  return `+${[...digits].reverse().join('')}`
}

/** The term for a number as it is dialled: without separators, `(0)` and the zeros that it begins with. */
function dialledTerm(dialled: string): string | null {
  const digits = dialled.replace('(0)', '').replace(/\D/g, '').replace(/^0+/, '')
  return digits.length < fewestPhoneDigits || digits.length > mostPhoneDigits ? null : phoneTerm(digits)
}

/** What a row must have that is found by this text. */
export function soughtIn(text: string): Sought {
  const words: string[] = []
  const choices: { all: string[]; or: string }[] = []
  const parts: string[] = []
  const rest = fold(text).replace(phoneNumber, (dialled) => {
    const or = dialledTerm(dialled)
    if (or === null) return dialled
    choices.push({ all: neededWords(dialled.match(/\d+/g) ?? []), or })
    return ' '
  })
  for (const word of writtenWords(rest)) {
    if (word.includes(joiner) && !hasUnspaced(word)) {
      choices.push({ all: neededWords(word.split(joiner).map(cut)), or: cut(withoutJoiners(word)) })
      continue
    }
    for (const part of word.split(joiner)) {
      const apart = unspacedApart(part)
      words.push(...apart.flatMap(soughtTerms))
      // A single pair is found by its term alone.
      if (hasUnspaced(part) && (apart.length > 1 || lettersOf(part).length > 2)) parts.push(part)
    }
  }
  return { words: neededWords(words), choices, parts: neededWords(parts) }
}

/** The first pairs of a run are enough. */
function soughtTerms(run: string): readonly string[] {
  return isUnspaced(run) ? pairsOf(run, false).slice(0, maxSearchWords) : [run]
}

/** Without repeats, and without words that begin another one, which they imply. */
export function neededWords(words: readonly string[]): string[] {
  const sorted = [...new Set(words)].sort()
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
 * What every document begins with that this release writes. Documents without it are written again (`backfill.ts`); a
 * migration builds their index anew for another version (`createSearchTable`).
 */
export const documentVersion = '~4'

/**
 * A document: its version and its words with letters of unspaced scripts on the first line, its terms on the second,
 * separated by spaces. The commit adds a number that it assigns.
 */
export function searchTerms(kind: Kind, state: State): string {
  const tags = (state.tags ?? []) as readonly string[]
  const attributes = Object.entries((state.customAttributes ?? {}) as Readonly<Record<string, unknown>>)
  const terms = new Set([
    ...tags.map(tagTerm),
    ...attributes.map(([name, value]) => attributeTerm(name, value)),
  ])
  const unspacedWords = new Set<string>()
  const values = attributes.map(([, value]) => value).filter((value) => typeof value !== 'boolean')
  const texts = [...searchedFields(kind).map((name) => state[name]), ...tags, ...values]
  for (const text of texts) {
    if (typeof text !== 'string' && typeof text !== 'number') continue
    addTerms(String(text), terms, unspacedWords)
  }
  const number = kind.table.sequence === null ? 0 : state[kind.table.sequence.field]
  const found = [...firstTerms(terms), ...(number === 0 ? [] : [String(number)])]
  return `${[documentVersion, ...unspacedWords].join(' ')}\n${found.join(' ')}`
}

function firstTerms(terms: ReadonlySet<string>): string[] {
  let bytes = 0
  return [...terms].filter((term) => {
    bytes += Buffer.byteLength(term) + prefixLength
    return bytes <= maxBytes
  })
}

/** No word begins with the prefix of a tag, and no term has a space or a line feed in it. */
export function tagTerm(tag: string): string {
  return `#${tag.replaceAll('%', '%25').replaceAll(' ', '%20').replaceAll('\n', '%0A')}`
}

/** Of JSON, in which no name runs into its value, 3 is not "3", and a number is written in one way. */
export function attributeTerm(name: string, value: unknown): string {
  return `=${hash('sha256', JSON.stringify([name, value]), 'base64url').slice(0, 16)}`
}

const prefixLength = 8

/**
 * A tsquery for what is sought, and whole terms. Terms begin with the end of the organization's id, as in
 * `search_vector`; it is not unique, so the statement names the organization as well.
 */
export function searchQuery(
  organizationId: string,
  { words, choices }: Pick<Sought, 'words' | 'choices'>,
  terms: readonly string[] = [],
): string {
  const prefix = organizationId.slice(-prefixLength)
  const beginning = (word: string) => `${quoted(prefix + word)}:*`
  return [
    ...words.map(beginning),
    ...choices.map(({ all, or }) => `(${all.map(beginning).join(' & ')} | ${beginning(or)})`),
    ...terms.map((term) => quoted(prefix + term)),
  ].join(' & ')
}

function quoted(term: string): string {
  return `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
