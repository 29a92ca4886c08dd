/** Whether PostgreSQL and UTF-8 can hold the text: no U+0000 and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
