/** The parameter `wait` of a list, and its answer, which is held back until there is something to report. */
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

interface Wait<P> {
  /** In seconds. */
  readonly wait: number
  /** Kinds that change, or types of events, that the answer may report. */
  readonly topics: ReadonlySet<string>
  /** Calls whose next pages are the same have the same key, and share a statement. */
  readonly keyAfter: (last: P | null) => string
  /** Goes on from the last page, which reported nothing; null: from the client's position. */
  readonly read: (last: P | null) => Promise<P>
  /** The organization's clock at a page that reports nothing, in milliseconds; null: the page is an answer. */
  readonly emptyAt: (page: P) => number | null
}

/**
 * The first page that reports something, or the last one when the time is up; or why the key may not read it any more.
 */
export async function waitForPage<P>(
  call: WaitingCall,
  readers: WaitingReaders,
  { wait, topics, keyAfter, read, emptyAt }: Wait<P>,
): Promise<Result<P, Problem>> {
  const { request, reply } = call
  const { organizationId } = call.caller
  const { url } = request.routeOptions
  const readShared = (last: P | null) =>
    readers.share(JSON.stringify([url, organizationId, ...topics, keyAfter(last)]), () => read(last))
  // Time counts from the request's arrival: after a move of the organization, another database handles it again.
  const left = Math.max(0, wait * 1_000 - reply.elapsedTime)
  using watch = readers.watch({ organizationId, topics }, left, request.disconnected)
  request.admitted?.releaseWhileWaiting()
  let page: P
  let hasWaited = false
  try {
    page = await readShared(null)
    for (let clock = emptyAt(page); clock !== null; clock = emptyAt(page)) {
      watch.seen(clock)
      hasWaited = true
      if (!(await watch.next())) break
      page = await readShared(page)
    }
  } catch (error) {
    const refusal = await call.recheck()
    if (refusal !== null) return fail(refusal)
    throw error
  }
  // After the page was read: what it shows was committed before this check.
  const refusal = hasWaited ? await call.recheck() : null
  return refusal === null ? ok(page) : fail(refusal)
}
