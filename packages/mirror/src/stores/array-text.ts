/** PostgreSQL's text of a `text[]`, both as it prints and as it reads one. */
import { readJson } from '@deskwire/sdk/json'

/** What `select '…'::text[]::text` returns for a list of texts, given as JSON. */
export function arrayText(json: string): string {
  return `{${(readJson(json) as string[]).map(element).join(',')}}`
}

/** What needs quotes: nothing, the word for null, delimiters, and what PostgreSQL takes for space. */
const special = /^$|^null$|["\\{}, \t\n\r\v\f]/i

function element(text: string): string {
  return special.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
}
