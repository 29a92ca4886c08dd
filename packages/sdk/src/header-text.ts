/** Reads headers that somebody has copied. */
import { readJson } from './json.ts'

/**
 * Headers by their names in lower case, of a text with a line `Name: value` each, as curl and the tools of browsers
 * print them, or with a JSON object. Throws SyntaxError for what begins like an object and is none.
 */
export function headersOfText(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) {
    return Object.fromEntries(
      Object.entries(readJson<object>(text)).map(([name, value]) => [
        name.toLowerCase(),
        [value].flat().join(', '),
      ]),
    )
  }
  const headers: Record<string, string> = {}
  // What curl -v prints before each line, and the line of the request itself, are passed over.
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^[<>]?\s*([\w-]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const known = headers[name.toLowerCase()]
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  }
  return headers
}
