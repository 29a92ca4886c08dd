/**
 * Types, reader and writer of a history: the requests and responses of writers and followers in the order of one
 * recorder. One JSON object in a line: a request before it is sent, a response after it was received.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * One version of an object: kind, id, `updatedAt` or `removedAt`, the first 13 hex digits of its bytes' SHA-256, the
 * number of the request whose text it has (null: a removal record), the ids it belongs to.
 */
export type Version = readonly [
  kind: string,
  id: string,
  at: string,
  hash: string,
  by: number | null,
  of?: readonly string[],
]

export interface Checkpoint {
  readonly count: number
  readonly digest: string
}

export type Operation = 'create' | 'change' | 'remove'

/** A writer's request. `touches`: an object that moves with it. */
export interface Ask {
  readonly does: 'ask'
  readonly n: number
  readonly op: Operation
  readonly kind: string
  readonly id?: string
  readonly touches?: string
}

/** Its response. A request without one, or with `unknown`, may or may not have happened. */
export interface Told {
  readonly does: 'told'
  readonly n: number
  readonly outcome: 'done' | 'refused' | 'unknown'
  /** What the response showed, unless it was a removal. */
  readonly version?: Version
  /** What a creation made, when the response showed no more. */
  readonly id?: string
}

/** Which kinds a follower reads; before its first read. */
interface Follow {
  readonly does: 'follow'
  readonly follower: string
  readonly kinds: readonly string[]
}

/**
 * A follower's request for a page: of a first sync with an empty copy; with the cursor of its last page; again with the
 * one before that; or after a watermark, keeping its copy.
 */
export interface Read {
  readonly does: 'read'
  readonly follower: string
  readonly from: 'start' | 'next' | 'again' | { readonly after: string }
}

/** Its response; absent before the next read: none. */
export interface Page {
  readonly does: 'page'
  readonly follower: string
  readonly versions: readonly Version[]
  /** By kind, on a last page. */
  readonly checkpoint: Readonly<Record<string, Checkpoint>> | null
}

/** For people: a kill, a restart, a clock that stepped. */
interface Mark {
  readonly does: 'mark'
  readonly what: string
}

/** At the end: what the database holds, with removal records, in any number of lines. */
export interface Stored {
  readonly does: 'stored'
  readonly versions: readonly Version[]
}

export type Line = Ask | Told | Follow | Read | Page | Mark | Stored

/** Can be read more than once, each time from its beginning. */
export type History = () => AsyncIterable<Line>

/** The message says which line is wrong and why. */
class FormatError extends Error {}

/** The required fields of each line, with their types. */
const required: Readonly<Record<Line['does'], Readonly<Record<string, (value: unknown) => boolean>>>> = {
  ask: {
    n: Number.isSafeInteger,
    op: (value) => value === 'create' || value === 'change' || value === 'remove',
    kind: isText,
  },
  told: {
    n: Number.isSafeInteger,
    outcome: (value) => value === 'done' || value === 'refused' || value === 'unknown',
  },
  follow: { follower: isText, kinds: Array.isArray },
  read: { follower: isText, from: (value) => isText(value) || isObject(value) },
  page: { follower: isText, versions: areVersions, checkpoint: (value) => value === null || isObject(value) },
  mark: { what: isText },
  stored: { versions: areVersions },
}

/** @throws FormatError that says what is wrong. */
function parseLine(text: string, number: number): Line {
  const refuse = (why: string) => new FormatError(`line ${number}: ${why}`)
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    throw refuse('is no JSON')
  }
  if (!isObject(line)) throw refuse('must be an object')
  const does = line.does as Line['does']
  if (!Object.hasOwn(required, does)) throw refuse(`does must be one of ${Object.keys(required).join(', ')}`)
  for (const [field, holds] of Object.entries(required[does])) {
    if (!holds(line[field])) throw refuse(`${does} needs ${field}; got ${JSON.stringify(line[field])}`)
  }
  return line as unknown as Line
}

/** Reads a file line by line. */
export function historyFile(path: string): History {
  return async function* lines() {
    let number = 0
    const input = createReadStream(path)
    // readline does not pass on an error of the stream, which would end the process.
    const failed = new Promise<never>((_, reject) => input.once('error', reject))
    failed.catch(() => {})
    const reader = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    const iterator = reader[Symbol.asyncIterator]()
    for (;;) {
      const next = await Promise.race([iterator.next(), failed])
      if (next.done === true) return
      number++
      yield parseLine(next.value, number)
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function areVersions(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (one) => Array.isArray(one) && one.length >= 5 && one.slice(0, 4).every(isText) && isTime(one[2]),
    )
  )
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)
}
