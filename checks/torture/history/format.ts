/**
 * The lines of a history: what writers asked and were told, and what followers read, in the order in which one
 * recorder saw it. docs/history.md is the specification of the format; this is its types, its reader and its writer.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * One version of an object, as its bytes showed it: kind, id, `updatedAt` or `removedAt`, the first 13 hex digits of the
 * bytes' SHA-256, the number of the ask whose words it holds (null: a removal record), the ids it belongs to.
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

/** A writer sends something. `touches`: an object that is to move with it. */
export interface Ask {
  readonly does: 'ask'
  readonly n: number
  readonly op: Operation
  readonly kind: string
  readonly id?: string
  readonly touches?: string
}

/** It was answered. An ask without such a line, or with `unknown`, may or may not have happened. */
export interface Told {
  readonly does: 'told'
  readonly n: number
  readonly outcome: 'done' | 'refused' | 'unknown'
  /** Of what is done and no removal: what the answer showed. */
  readonly version?: Version
  /** What a creation made, when the answer showed no more of it. */
  readonly id?: string
}

/** Says of a follower which kinds it reads; before its first read. */
interface Follow {
  readonly does: 'follow'
  readonly follower: string
  readonly kinds: readonly string[]
}

/**
 * A follower asks for a page: of a first sync, with an empty copy; with the cursor of its last page; once more with the one
 * before that; or after a watermark, keeping its copy.
 */
export interface Read {
  readonly does: 'read'
  readonly follower: string
  readonly from: 'start' | 'next' | 'again' | { readonly after: string }
}

/** What it was answered; without such a line before its next read, nothing. */
export interface Page {
  readonly does: 'page'
  readonly follower: string
  readonly versions: readonly Version[]
  /** By kind, when nothing follows. */
  readonly checkpoint: Readonly<Record<string, Checkpoint>> | null
}

/** Something that was done to the service: a kill, a restart, a clock that stepped. For people. */
interface Mark {
  readonly does: 'mark'
  readonly what: string
}

/** At the end: what the database holds, removal records included. In as many lines as one likes. */
export interface Stored {
  readonly does: 'stored'
  readonly versions: readonly Version[]
}

export type Line = Ask | Told | Follow | Read | Page | Mark | Stored

/** A history that can be read more than once, each time from its beginning. */
export type History = () => AsyncIterable<Line>

/** Not a history; the message says which line and why. */
class FormatError extends Error {}

/** The fields that each line must have, and what each must be. */
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

/** One line of a file. @throws FormatError that says what is wrong. */
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

/** A file of lines, unpacked a line at a time. */
export function historyFile(path: string): History {
  return async function* lines() {
    let number = 0
    const input = createReadStream(path)
    // An error of the stream would otherwise end the process: readline does not pass it on.
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
