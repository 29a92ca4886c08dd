/** The query of a sync (specification 7): where it starts or goes on, how much at once, and how long to wait for something. */
import { invalid, notTimestamp, parseLimit, quoted } from '../http/list-parameters.ts'
import type { Cursor } from '../kernel/cursor.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { parseTimestamp } from '../kernel/timestamps.ts'

export type SyncQuery = {
  readonly mode: 'sync'
  readonly limit: number
  /** Seconds to hold the answer while there is nothing to report. */
  readonly wait: number
} & ({ readonly updatedAfter: number } | { readonly cursor: Cursor })

export const syncParameters = ['limit', 'updatedAfter', 'cursor', 'wait']

/** More than this is served as this: an answer that is held back has to end before proxies cut it, most of them at 60 s. */
export const longestWait = 50

/** Whether a query asks for a sync. */
export function isSync(query: URLSearchParams): boolean {
  return query.has('cursor') || query.has('updatedAfter')
}

/** What a sync asks for. `decode` reads a cursor of this stream, and answers null for any other text. */
export function parseSync(
  query: URLSearchParams,
  path: string,
  decode: (text: string) => Cursor | null,
): Result<SyncQuery, Problem> {
  const refused = [...query.keys()].filter((name) => !syncParameters.includes(name))
  if (refused.length > 0) {
    const detail = `A sync takes ${syncParameters.join(', ')} only; leave out ${refused.join(', ')}, or browse without a sync parameter.`
    return fail(problem('filter_not_allowed_in_sync', detail))
  }
  const limit = parseLimit(query)
  if (!limit.ok) return limit
  const wait = parseWait(query)
  if (!wait.ok) return wait
  const common = { mode: 'sync', limit: limit.value, wait: wait.value } as const
  const cursorText = query.get('cursor')
  if (cursorText !== null) {
    const cursor = decode(cursorText)
    if (cursor !== null) return ok({ ...common, cursor })
    const detail = `The cursor is not one of this list. Send the nextCursor of GET ${path} unchanged, with a key of the same organization.`
    return fail(problem('invalid_cursor', detail))
  }
  const text = query.get('updatedAfter') ?? ''
  const updatedAfter = parseTimestamp(text)
  if (updatedAfter === null) return notTimestamp('updatedAfter', text)
  return ok({ ...common, updatedAfter })
}

function parseWait(query: URLSearchParams): Result<number, Problem> {
  const text = query.get('wait') ?? '0'
  if (/^\d{1,15}$/.test(text)) return ok(Math.min(Number(text), longestWait))
  return invalid(`wait must be a whole number of seconds from 0 to ${longestWait}; got ${quoted(text)}.`)
}
