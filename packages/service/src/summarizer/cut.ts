const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * The text's beginning, of at most `limit` code units: up to the end of a sentence, if that is not less than half of
 * what fits, otherwise up to the end of a word, otherwise whatever fits; never half a character.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  let whole = 0
  for (const { index, segment } of sentences.segment(text.slice(0, limit + 1))) {
    if (index + segment.length <= limit) whole = index + segment.length
  }
  if (whole * 2 >= limit) return text.slice(0, whole).trimEnd()
  const word = /^[\s\S]*\S(?=\s)/.exec(text.slice(0, limit + 1))?.[0] ?? ''
  return word.length * 2 >= limit ? word : text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
}
