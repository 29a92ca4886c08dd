/** PostgreSQL's text of a `text[]`, both as it prints and as it reads one. */

/** What `select '…'::text[]::text` returns for this list. */
export function arrayText(texts: readonly string[]): string {
  return `{${texts.map(element).join(',')}}`
}

/** What needs quotes: nothing, the word for null, delimiters, and what PostgreSQL takes for space. */
const special = /^$|^null$|["\\{}, \t\n\r\v\f]/i

function element(text: string): string {
  return special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
}
