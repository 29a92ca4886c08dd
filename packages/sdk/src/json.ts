/**
 * JSON as it is written. `JSON.parse` of Node 24 to 26, and of browsers of the same age, takes an escaped name of a
 * member for another name that it has met: after `{"p":1,"\\":2}`, it reads `{"p":1,"\n":2}` with the name `\`. Names
 * without escapes, and all values, it reads right.
 */
const backslash = 0x5c

/** Reads a JSON text. Throws SyntaxError, as `JSON.parse` does. */
export const readJson = <T = unknown>(text: string): T => {
  const value = JSON.parse(text)
  return hasEscapedName(text) ? (readValid(text) as T) : value
}

/**
 * A value as JSON. Throws TypeError for what JSON would make null, which deletes a custom attribute: NaN, infinities,
 * dates that are none, `undefined` in a list.
 */
export const writeJson = (value: unknown): string => {
  const text = JSON.stringify(value)
  // Only then may something have become null; to look costs as much as to write.
  if (text.includes('null')) JSON.stringify(value, refuseLoss)
  return text
}

function refuseLoss(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const isLost =
    (typeof value === 'number' && !Number.isFinite(value)) ||
    (value === null && this[name] !== null) ||
    (Array.isArray(value) && value.includes(undefined))
  if (!isLost) return value
  throw new TypeError(`${name || 'The body'} cannot be sent: JSON has no such value, and would make it null`)
}

/** What is wrong with a text that is no number of JSON, or one that a double would round; null: it is kept exactly. */
export const numberFault = (written: string): string | null => {
  const shown = written.length <= longestShown ? written : `${written.slice(0, longestShown)}…`
  if (!/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(written))
    return `must be a number as JSON writes it, for example 1000, -3.5 or 1e6; got ${JSON.stringify(shown)}`
  const value = Number(written)
  if (spellingOf(String(value)) === spellingOf(written)) return null
  return `must be a number that a double (IEEE 754) holds, or a string where one is accepted: ${shown} would become ${value}`
}

const longestShown = 100

/** One spelling for each decimal number: `1.50e2` and `150` are `15e1`. */
const spellingOf = (number: string): string => {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  let from = 0
  let end = digits.length
  while (digits[from] === '0') from++
  while (end > from && digits[end - 1] === '0') end--
  if (from === end) return '0'
  const sign = mantissa.startsWith('-') ? '-' : ''
  return `${sign}${digits.slice(from, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

/**
 * Where the string ends that `from` is in, at no escaped character: behind the first quote after an even number of
 * backslashes.
 */
const endOfString = (text: string, from: number): number => {
  for (let n = text.indexOf('"', from); n !== -1; n = text.indexOf('"', n + 1)) {
    let escapes = n
    while (escapes > from && text.charCodeAt(escapes - 1) === backslash) escapes--
    if ((n - escapes) % 2 === 0) return n + 1
  }
  return text.length
}

const isName = (text: string, end: number): boolean => {
  let n = end
  while (text.charCodeAt(n) <= 0x20) n++
  return text[n] === ':'
}

/** In JSON, every backslash is within a string, and a string before a colon is a name. */
const hasEscapedName = (text: string): boolean => {
  for (let n = text.indexOf('\\'); n !== -1; n = text.indexOf('\\', n)) {
    n = endOfString(text, n)
    if (isName(text, n)) return true
  }
  return false
}

/** A string that is no name is read right, by itself too. */
const stringOf = (written: string): string =>
  written.includes('\\') ? JSON.parse(written) : written.slice(1, -1)

/** Numbers, true, false and null. */
const scalar = /[^\s,\]}]+/y

/** Something that a text says and its value does not. */
export interface Loss {
  /** The names and indexes that lead to it. */
  path: readonly string[]
  /** What is wrong with the number there; null: its object has the name before. */
  fault: string | null
}

/** As many of each sort are named. */
const mostLosses = 100

/**
 * What reading a JSON text loses: numbers that are rounded, and values whose name is repeated. Throws SyntaxError for
 * no JSON.
 */
export const lossesOf = (text: string): readonly Loss[] => {
  JSON.parse(text)
  const [numbers, names]: [Loss[], Loss[]] = [[], []]
  readValid(text, (open, name, written) => {
    const into = open.at(-1)
    const path = () => [...open, undefined].slice(1).map((one, n) => stepTo(one, open[n] as object, name))
    const fault = /^[-\d]/.test(written) ? numberFault(written) : null
    if (fault !== null && numbers.length < mostLosses) numbers.push({ path: path(), fault })
    const isRepeated = into !== undefined && !Array.isArray(into) && Object.hasOwn(into, name)
    if (isRepeated && names.length < mostLosses) names.push({ path: path(), fault: null })
  })
  return [...names, ...numbers]
}

/** The step from an open object or list to an open one in it, or to the value that comes next. */
const stepTo = (one: object | undefined, within: object, name: string): string => {
  if (Array.isArray(within)) return String(within.length - (one === undefined ? 0 : 1))
  return one === undefined ? name : (Object.entries(within).find(([, value]) => value === one)?.[0] ?? '')
}

/** Before a value is put into the last of the open objects and lists; `written`: of a number, true, false or null. */
type Seen = (open: readonly object[], name: string, written: string) => void

/** Reads a text that is known to be JSON. Nesting takes no stack. */
const readValid = (text: string, seen?: Seen): unknown => {
  const open: object[] = []
  let root: unknown
  let name = ''
  const put = (value: unknown, written = '') => {
    seen?.(open, name, written)
    const into = open.at(-1)
    if (into === undefined) root = value
    else if (Array.isArray(into)) into.push(value)
    // Not assigned: `__proto__` is a name like others.
    else Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true })
  }
  for (let n = 0; n < text.length; n++) {
    const token = text[n] as string
    if (token === '"') {
      const end = endOfString(text, n + 1)
      const string = stringOf(text.slice(n, end))
      if (isName(text, end)) name = string
      else put(string)
      n = end - 1
    } else if (token === '{' || token === '[') {
      const opened = token === '{' ? {} : []
      put(opened)
      open.push(opened)
    } else if (token === '}' || token === ']') open.pop()
    else if (token > ' ' && token !== ',' && token !== ':') {
      scalar.lastIndex = n
      const [written = ''] = scalar.exec(text) ?? []
      put(JSON.parse(written), written)
      n += written.length - 1
    }
  }
  return root
}
