/** Whether every layer below can hold a text: no U+0000 (PostgreSQL), no half of a surrogate pair (UTF-8). */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
