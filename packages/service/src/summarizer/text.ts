import { clipped } from '@deskwire/sdk/clipped'

/** Removes control characters except line breaks, and repeated empty lines. */
export function tidy(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * At most `limit` code units: up to the end of a sentence if that is at least half of the limit, otherwise of a word.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  let whole = 0
  for (const { index, segment } of sentences.segment(text.slice(0, limit + 1))) {
    if (index + segment.length <= limit) whole = index + segment.length
  }
  if (whole * 2 >= limit) return text.slice(0, whole).trimEnd()
  const word = /^[\s\S]*\S(?=\s)/.exec(text.slice(0, limit + 1))?.[0] ?? ''
  return word.length * 2 >= limit ? word : clipped(text, limit, '')
}
