/**
 * Bodies of JSON. One that writes a name of an object twice is refused (specification 1.2), as readers differ in which
 * of the two they take: it parses into fewer members than it writes, so counting both finds it, however the names are
 * escaped and at any depth.
 */
import { fail, ok, type Result } from '../kernel/result.ts'
import { countJson, deepestNesting, endOfText } from './nesting.ts'

/** What is wrong with bytes that should be JSON, as a sentence that says what is accepted. */
export type BodyFault = string

/** A byte order mark may stand before a body, and nowhere else. */
const decoder = new TextDecoder('utf-8', { fatal: true })
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value that these bytes say, or what is wrong with them. `part` is of a body, and not its beginning. */
export function parseJson(bytes: Buffer, part = false): Result<unknown, BodyFault> {
  const counted = countJson(bytes)
  if (counted.tooDeep) return fail(tooDeep)
  let value: unknown
  try {
    value = JSON.parse((part ? strictDecoder : decoder).decode(bytes))
  } catch (error) {
    return fail(notJson((error as Error).message))
  }
  return membersOf(value) === counted.members ? ok(value) : fail(repeated(bytes))
}

export const tooDeep: BodyFault = `The body nests objects and arrays more than ${deepestNesting} levels deep. Send it flatter.`

/** What is said of a body that is no JSON. */
export function notJson(reason: string): BodyFault {
  return `The body is not valid JSON in UTF-8: ${reason}.`
}

/** Members of all objects in a value. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let members = 0
    for (const one of value) if (typeof one === 'object') members += membersOf(one)
    return members
  }
  const names = Object.keys(value)
  let members = names.length
  for (const name of names) {
    const one = (value as Record<string, unknown>)[name]
    if (typeof one === 'object') members += membersOf(one)
  }
  return members
}

/** Characters of a name that are told. */
const shownName = 100

/** Names the first name that stands twice in its object. Of JSON that has one. */
function repeated(json: Buffer): BodyFault {
  const within: Set<string>[] = []
  let text = [0, 0]
  for (let n = 0; n < json.length; n++) {
    const token = String.fromCharCode(json[n] as number)
    if (token === '{' || token === '[') within.push(new Set())
    else if (token === '}' || token === ']') within.pop()
    else if (token === '"') {
      text = [n, endOfText(json, n + 1)]
      n = (text[1] as number) - 1
    } else if (token === ':') {
      const name = JSON.parse(json.toString('utf8', text[0], text[1])) as string
      const names = within.at(-1)
      if (names?.has(name)) {
        const shown = name.length > shownName ? `${name.slice(0, shownName)}…` : name
        return `The body has the name ${JSON.stringify(shown)} twice in one object. Send each name once.`
      }
      names?.add(name)
    }
  }
  throw new Error('a body has fewer members than it writes, and none of them twice')
}
