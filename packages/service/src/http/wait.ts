/** Lists that grow: their pages, and the parameter `wait`, which delays an answer until there is something new. */
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { type Problem, quoted } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import type { Call, ReadParameter } from '../openapi/api-module.ts'
import { invalid } from './list-parameters.ts'

/** A delayed response has to end before proxies close the connection, most of them at 60 s. */
const longestWait = 50

/** `of`: what kind of list takes it, as the beginning of its description. */
export function waitParameter(of = ''): ReadParameter<number> {
  const description = `With nothing to report, the answer waits this many seconds for something. Above ${longestWait} is served as ${longestWait}.`
  return {
    description: of === '' ? description : `${of}: w${description.slice(1)}`,
    // No default: a form that fills it in would wait without need.
    schema: { type: 'integer', minimum: 0 },
    read(text) {
      if (text === null) return ok(0)
      if (/^\d{1,15}$/.test(text)) return ok(Math.min(Number(text), longestWait))
      return invalid(`wait must be a whole number of seconds from 0 to ${longestWait}; got ${quoted(text)}.`)
    },
  }
}

export type WaitingCall = Pick<Call, 'request' | 'reply' | 'caller' | 'recheck'>

/** A page as its client is shown it. */
export interface ListedPage<At> {
  /** Joined by commas. */
  readonly records: string
  readonly pagination: {
    readonly limit: number
    readonly hasMore: boolean
    readonly nextCursor: string
    readonly total?: number
    readonly offset?: number
  }
  /** Of the last page of a sync. */
  readonly checkpoint?: object | null
  /** Whether it reports nothing, and its client can wait for the next. */
  readonly isEmpty: boolean
  /** The organization's last stamp when it was read, in milliseconds. */
  readonly clock: number
  /** Where the next page starts. */
  readonly next: At
}

/** The pages of a list that grows, each read at an `At`. */
export interface PageSource<At, P> {
  readonly start: At
  /** Kinds that change, or types of events, that a page may report. */
  readonly topics: ReadonlySet<string>
  /** Calls whose pages there are the same have the same key, and share a statement. */
  readonly keyOf: (at: At) => string
  readonly read: (at: At, signal?: AbortSignal) => Promise<P>
  /** The page as the caller may see it now; or why it may not read the page, or not go on from there. */
  readonly listed: (page: P, at: At) => Result<ListedPage<At>, Problem>
}

/** Reads for all requests that have the same page to read at once. */
export function readShared<At, P>(
  { request, caller }: WaitingCall,
  readers: WaitingReaders,
  { topics, keyOf, read }: PageSource<At, P>,
  at: At,
): Promise<P> {
  const { url } = request.routeOptions
  const key = JSON.stringify([url, caller.organizationId, ...topics, keyOf(at)])
  return readers.share(key, () => read(at))
}

/**
 * The first page that reports something, or the last one when so many seconds are over; or why the key may not read it
 * any more.
 */
export async function waitForPage<At, P>(
  call: WaitingCall,
  readers: WaitingReaders,
  source: PageSource<At, P>,
  wait: number,
): Promise<Result<ListedPage<At>, Problem>> {
  const { request, reply } = call
  const { organizationId } = call.caller
  const { topics, listed } = source
  // Time counts from the request's arrival: after a move of the organization, another database handles it again.
  const left = Math.max(0, wait * 1_000 - reply.elapsedTime)
  using watch = readers.watch({ organizationId, topics }, left, request.disconnected)
  request.admitted?.releaseWhileWaiting()
  let at = source.start
  try {
    let page = await readShared(call, readers, source, at)
    let found = listed(page, at)
    if (!found.ok || !found.value.isEmpty) return found
    do {
      watch.seen(found.value.clock)
      if (!(await watch.next())) break
      at = found.value.next
      page = await readShared(call, readers, source, at)
      found = listed(page, at)
    } while (found.ok && found.value.isEmpty)
    // After the page was read: what it shows was committed before this check.
    const refusal = await call.recheck()
    return refusal === null ? listed(page, at) : fail(refusal)
  } catch (error) {
    const refusal = await call.recheck()
    if (refusal !== null) return fail(refusal)
    throw error
  }
}
