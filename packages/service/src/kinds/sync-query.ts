/** The query of a sync: where it starts or goes on, how much at once, and how long to wait for something. */
import { invalid, notTimestamp, paging, quoted } from '../http/list-parameters.ts'
import type { Cursor } from '../kernel/cursor.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { parseTimestamp } from '../kernel/timestamps.ts'
import type { QueryParameters, ReadParameter } from '../openapi/part.ts'

export type SyncQuery = {
  readonly mode: 'sync'
  readonly limit: number
  /** Seconds to hold the answer while there is nothing to report. */
  readonly wait: number
} & ({ readonly updatedAfter: number } | { readonly cursor: Cursor })

/** More than this is served as this: an answer that is held back has to end before proxies cut it, most of them at 60 s. */
const longestWait = 50

const wait: ReadParameter<number> = {
  description: `In a sync: with nothing to report, the answer waits this many seconds for something. Above ${longestWait} is served as ${longestWait}.`,
  // No default: a form that fills it in would ask for a wait where there is none.
  schema: { type: 'integer', minimum: 0 },
  read(text) {
    if (text === null) return ok(0)
    if (/^\d{1,15}$/.test(text)) return ok(Math.min(Number(text), longestWait))
    return invalid(`wait must be a whole number of seconds from 0 to ${longestWait}; got ${quoted(text)}.`)
  },
}

/** What a sync takes, and nothing else. */
export const syncParameters = {
  limit: paging.limit,
  updatedAfter: {
    description: 'Starts a sync from a watermark, exclusive.',
    schema: { type: 'string', format: 'date-time', examples: ['1970-01-01T00:00:00Z'] },
  },
  cursor: {
    description: 'The nextCursor of the previous page; continues a sync.',
    schema: { type: 'string' },
  },
  wait,
} as const satisfies QueryParameters
const names: readonly string[] = Object.keys(syncParameters)

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
  // Generated clients send the default of a browse, and a sync has no other offset.
  const accepted = query.get('offset') === '0' ? [...names, 'offset'] : names
  const refused = [...query.keys()].filter((name) => !accepted.includes(name))
  if (refused.length > 0) {
    const detail = `A sync takes ${names.join(', ')} only; leave out ${refused.join(', ')}, or browse without a sync parameter.`
    return fail(problem('filter_not_allowed_in_sync', detail))
  }
  const limit = paging.limit.read(query.get('limit'), 'limit')
  if (!limit.ok) return limit
  const seconds = wait.read(query.get('wait'), 'wait')
  if (!seconds.ok) return seconds
  const common = { mode: 'sync', limit: limit.value, wait: seconds.value } as const
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
