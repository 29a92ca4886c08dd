/**
 * Bytes of JSON, counted before anything is parsed: how deep they nest, and how many members they write. Nothing of the
 * API needs more than a handful of levels. Bytes of JSON's own characters stand for nothing else in UTF-8. What is no JSON
 * may be counted either way.
 */

/** Objects and arrays within each other. */
export const deepestNesting = 64

const quote = 0x22
const colon = 0x3a
const backslash = 0x5c
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const curly = 0x20
const opening = 0x7b
const closing = 0x7d

/** Bytes of a text that are looked at one by one, before its end is searched for: most texts are shorter. */
const shortText = 64

/**
 * Where the text that begins behind a quote at `from - 1` ends: the place behind its closing quote, or the end of the
 * bytes. Measured with 16 MiB of texts of 16,000 characters: 2 ms, and 20 ms byte by byte.
 */
export function endOfText(json: Buffer, from: number): number {
  let near = from + shortText
  for (let n = from; n < json.length; n++) {
    const byte = json[n]
    if (byte === quote) return n + 1
    if (byte === backslash) n++
    else if (n >= near) {
      const found = json.indexOf(quote, n)
      if (found === -1) return json.length
      let escapes = 0
      while (found - 1 - escapes > n && json[found - 1 - escapes] === backslash) escapes++
      if (escapes % 2 === 0) return found + 1
      n = found
      near = n + shortText
    }
  }
  return json.length
}

export interface Counted {
  /** Whether objects and arrays are within each other deeper than `deepestNesting`: then the rest is not counted. */
  readonly tooDeep: boolean
  /** Members of objects, as they are written: a name that is written twice counts twice. */
  readonly members: number
}

/** Depth and members of these bytes. */
export function countJson(json: Buffer): Counted {
  let depth = 0
  let members = 0
  for (let n = 0; n < json.length; n++) {
    const byte = json[n] as number
    if (byte === quote) n = endOfText(json, n + 1) - 1
    else if (byte === colon) members++
    else if ((byte | curly) === opening) {
      if (++depth > deepestNesting) return { tooDeep: true, members }
    } else if ((byte | curly) === closing) depth--
  }
  return { tooDeep: false, members }
}
