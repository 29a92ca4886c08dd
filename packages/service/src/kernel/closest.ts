/** The word in `words` with the smallest Levenshtein distance to `text`. */
export function closest(text: string, words: readonly string[]): string {
  const nearest = words
    .map((word) => ({ word, distance: distance(text, word) }))
    .reduce((best, next) => (next.distance < best.distance ? next : best))
  return nearest.word
}

/** The Levenshtein distance, one row of the table at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
