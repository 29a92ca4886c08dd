/** How deep the JSON of a body may be nested: nothing of the API needs more than a handful of levels. */

/** Objects and arrays within each other. */
export const deepestNesting = 64

const quote = 0x22
const backslash = 0x5c
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const curly = 0x20
const opening = 0x7b
const closing = 0x7d

/**
 * Whether objects and arrays are within each other deeper than `deepestNesting`, found before anything is parsed. What
 * is no JSON may be judged either way. Bytes of JSON's own characters stand for nothing else in UTF-8.
 */
export function isTooDeep(json: Uint8Array): boolean {
  let depth = 0
  let inText = false
  for (let n = 0; n < json.length; n++) {
    const byte = json[n] as number
    if (inText) {
      if (byte === backslash) n++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if ((byte | curly) === opening) {
      if (++depth > deepestNesting) return true
    } else if ((byte | curly) === closing) depth--
  }
  return false
}
