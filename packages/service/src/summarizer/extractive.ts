/**
 * Summarizes without a model: picks the sentences that resemble most others, ranked by PageRank over their similarity
 * (TextRank), with LexRank's measure: rare words count more, so no list of stop words per language is needed.
 * Deterministic.
 */

import { cutText } from './text.ts'
import type { Transcript, TranscriptMessage } from './transcript.ts'

interface Sentence extends TranscriptMessage {
  readonly words: ReadonlyMap<string, number>
}

/** Sentences, and their maximum total length. */
const picked = 4
const summaryLength = 800
const sentenceLength = 300
/** Shorter sentences are greetings. */
const fewestWords = 4
/** Ranking compares all pairs: 200 sentences take some ten milliseconds, and no more are compared. */
const firstCompared = 50
const lastCompared = 150
/** The highest similarity of two picked sentences. */
const alike = 0.7

const speakers: Readonly<Record<TranscriptMessage['by'], string>> = {
  customer: 'Customer',
  teammate: 'Teammate',
  ai: 'AI',
  system: 'System',
}

const sentencesOf = new Intl.Segmenter('en', { granularity: 'sentence' })
const wordsOf = new Intl.Segmenter('en', { granularity: 'word' })

export function extractSummary({ messages }: Transcript): string {
  const sentences = splitSentences(messages)
  const likeness = likenessOf(sentences)
  const order = rank(likeness)
  const chosen: number[] = []
  let length = 0
  for (const n of order) {
    const size = sentences[n]?.text.length ?? 0
    const fits = length === 0 || length + size <= summaryLength
    if (!fits || chosen.some((other) => at(likeness, n, other) > alike)) continue
    chosen.push(n)
    length += size
    if (chosen.length === picked) break
  }
  return lines(chosen.sort((a, b) => a - b).flatMap((n) => sentences[n] ?? []))
}

function lines(sentences: readonly TranscriptMessage[]): string {
  let speaker: TranscriptMessage['by'] | null = null
  let text = ''
  for (const { by, text: sentence } of sentences) {
    text += by === speaker ? ` ${sentence}` : `${text === '' ? '' : '\n'}${speakers[by]}: ${sentence}`
    speaker = by
  }
  return text
}

/** The distinct sentences, without greetings unless there is nothing else; from the beginning and the end. */
function splitSentences(messages: readonly TranscriptMessage[]): Sentence[] {
  const distinct = new Map<string, Sentence>()
  for (const { by, text } of messages) {
    for (const { segment } of sentencesOf.segment(text)) {
      const words = countWords(segment)
      const key = [...words.keys()].join(' ')
      if (key === '' || distinct.has(key)) continue
      const sentence = segment.replace(/\s+/g, ' ').trim()
      const cut = cutText(sentence, sentenceLength)
      distinct.set(key, { by, text: cut === sentence ? cut : `${cut} …`, words })
    }
  }
  const all = [...distinct.values()]
  const telling = all.filter(({ words }) => words.size >= fewestWords)
  const sentences = telling.length > 0 ? telling : all
  if (sentences.length <= firstCompared + lastCompared) return sentences
  return [...sentences.slice(0, firstCompared), ...sentences.slice(-lastCompared)]
}

function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { segment, isWordLike } of wordsOf.segment(text)) {
    if (!isWordLike) continue
    const word = segment.toLowerCase()
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

type Matrix = readonly (readonly number[])[]

function at(matrix: Matrix, row: number, column: number): number {
  return matrix[row]?.[column] ?? 0
}

/**
 * The similarity of each pair, from 0 to 1: the cosine of their words, weighted by rarity; 0 for a sentence and itself.
 */
function likenessOf(sentences: readonly Sentence[]): Matrix {
  const having = new Map<string, number>()
  for (const { words } of sentences)
    for (const word of words.keys()) having.set(word, (having.get(word) ?? 0) + 1)
  const vectors = sentences.map(({ words }) => {
    const weights = new Map<string, number>()
    for (const [word, count] of words) {
      weights.set(word, count * Math.log(1 + sentences.length / (having.get(word) ?? 1)))
    }
    const norm = Math.hypot(...weights.values())
    return new Map([...weights].map(([word, weight]) => [word, weight / norm]))
  })
  const matrix = vectors.map(() => new Array<number>(vectors.length).fill(0))
  vectors.forEach((vector, row) => {
    vectors.slice(0, row).forEach((other, column) => {
      let sum = 0
      for (const [word, weight] of vector) sum += weight * (other.get(word) ?? 0)
      setBoth(matrix, row, column, sum)
    })
  })
  return matrix
}

function setBoth(matrix: number[][], row: number, column: number, value: number): void {
  const [one, other] = [matrix[row], matrix[column]]
  if (one !== undefined) one[column] = value
  if (other !== undefined) other[row] = value
}

/** PageRank's damping, and enough rounds for a stable order. */
const damping = 0.85
const rounds = 30

/** The sentences by rank; among equals the earlier one first. */
function rank(likeness: Matrix): number[] {
  const count = likeness.length
  const sums = likeness.map((row) => row.reduce((sum, value) => sum + value, 0))
  let scores = new Array<number>(count).fill(1)
  for (let round = 0; round < rounds; round++) {
    const shares = scores.map((score, n) => (sums[n] ? score / sums[n] : 0))
    scores = likeness.map(
      (row) => 1 - damping + damping * row.reduce((sum, value, n) => sum + value * (shares[n] ?? 0), 0),
    )
  }
  return scores
    .map((score, n) => ({ score: Math.round(score * 1e9), n }))
    .sort((a, b) => b.score - a.score || a.n - b.n)
    .map(({ n }) => n)
}
