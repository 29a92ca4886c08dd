/**
 * The summarizer without a model: it picks the sentences that most others resemble, and writes nothing new.
 *
 * Sentences are ranked as web pages are by PageRank, where a link is the likeness of two sentences (TextRank;
 * LexRank's measure of likeness: words that few sentences have count more, so no language's list of stop words
 * is needed). The same transcript gives the same summary.
 */
import { cutText } from './plain-text.ts'
import type { Said, Transcript } from './transcript.ts'

interface Sentence extends Said {
  /** How often each word occurs. */
  readonly words: ReadonlyMap<string, number>
}

/** Sentences that are picked, and the characters that they may have together. */
const picked = 4
const summaryLength = 800
/** A sentence that is longer is cut. */
const sentenceLength = 300
/** Sentences with fewer words say hello. */
const fewestWords = 4
/** Ranking compares each with each: 200 take some ten milliseconds, and more than that are not compared. */
const firstCompared = 50
const lastCompared = 150
/** Two picked sentences are at most so much alike. */
const alike = 0.7

const speakers: Readonly<Record<Said['by'], string>> = {
  customer: 'Customer',
  teammate: 'Teammate',
  ai: 'AI',
  system: 'System',
}

const sentencesOf = new Intl.Segmenter('en', { granularity: 'sentence' })
const wordsOf = new Intl.Segmenter('en', { granularity: 'word' })

/** The sentences that say most of the others, in their order, with who said them. Empty when there are none. */
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

function lines(sentences: readonly Said[]): string {
  let speaker: Said['by'] | null = null
  let text = ''
  for (const { by, text: sentence } of sentences) {
    text += by === speaker ? ` ${sentence}` : `${text === '' ? '' : '\n'}${speakers[by]}: ${sentence}`
    speaker = by
  }
  return text
}

/** The sentences, each once, greetings apart unless there is nothing else; from the beginning and the end. */
function splitSentences(messages: readonly Said[]): Sentence[] {
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

/** How alike each two sentences are, from 0 to 1: the cosine of their words, weighted by rarity; a sentence and itself are 0. */
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

/** PageRank's damping and as many rounds as make the order stand still. */
const damping = 0.85
const rounds = 30

/** The sentences, most resembled first; of equals the earlier one. */
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
