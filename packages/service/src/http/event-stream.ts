/**
 * Lists that grow, as a stream of server-sent events (specification 7.10): each page is an event whose id is the cursor
 * after it, and the last event says why the stream ends. It reads, waits and authorizes as `wait` does.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { recheckAfter } from '../auth/authenticator.ts'
import { isToken } from '../auth/token.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import { type Problem, problem, problemBody, quoted } from '../kernel/errors.ts'
import { done, type Outcome, ok, refused } from '../kernel/outcome.ts'
import { header, type ReadParameter, type Sent } from '../openapi/api-module.ts'
import { vary } from './compression.ts'
import { problemOf } from './error-reply.ts'
import { invalid } from './list-parameters.ts'
import {
  eventStream,
  hasEvents,
  headersOnly,
  listBody,
  searchParameters,
  sent,
  wantsEvents,
} from './replies.ts'
import { type ListedPage, type PageSource, readShared, type WaitingCall, waitForPage } from './wait.ts'

/** The page that the query asks for; with `wait`, as soon as it reports something; or a stream of all from there on. */
export async function answerPages<At, P>(
  call: WaitingCall,
  readers: WaitingReaders,
  source: PageSource<At, P>,
  wait: number,
): Promise<Outcome<unknown> | Sent> {
  const { request, reply } = call
  if (hasEvents(request)) vary(reply, 'Accept')
  const head = headersOnly(request)
  if (wantsEvents(request)) {
    if (head === null) return sendEvents(call, readers, source)
    reply.headers(streamHeaders).send(head.value)
    return sent
  }
  if (head !== null) return head
  const { start, read, listed } = source
  const found =
    wait === 0
      ? listed(await read(start, request.disconnected), start)
      : await waitForPage(call, readers, source, wait)
  if (!found.ok) return refused(found.error)
  const { records, pagination, checkpoint } = found.value
  return done(listBody(records, checkpoint == null ? pagination : { ...pagination, checkpoint }))
}

/** What a list that can be a stream of events declares among its answers. */
export const streamedAnswer = {
  [eventStream]: {
    type: 'string',
    description:
      'Events `page`, with the page as JSON and the cursor as id; `checkpoint`, after the last page of a sync; `end`, with a problem: why the stream ends.',
  },
} as const

/** A browser that was cut off adds the header to the address that it was given at first, so the header overrides it. */
export const lastEventIdHeader = header(
  'Last-Event-ID',
  'Of a stream of events: goes on after the event with this id, a cursor; overrides where the query says to start.',
)

/** The query of a list that can be a stream, with the cursor that the client goes on from. */
export function streamParameters(request: FastifyRequest): URLSearchParams {
  const parameters = searchParameters(request)
  const [session = '', ...more] = parameters.getAll('session')
  if (more.length === 0 && isToken(session, 'session')) parameters.delete('session')
  const id = wantsEvents(request) ? request.headers['last-event-id'] : undefined
  if (typeof id !== 'string' || id === '') return parameters
  for (const start of ['updatedAfter', 'createdAfter']) parameters.delete(start)
  parameters.set('cursor', id)
  return parameters
}

/** `requireKey` finds the caller by it. */
export const sessionParameter = {
  description:
    'Of a stream of events, instead of the Authorization header, which a browser cannot send with one: the token of a session of the console with read scopes alone.',
  schema: { type: 'string' },
  read: (text) =>
    text === null ? ok(null) : invalid(`session must be the token of a session, dws_…; got ${quoted(text)}.`),
} as const satisfies ReadParameter<null>

const streamHeaders = {
  'content-type': `${eventStream}; charset=utf-8`,
  'cache-control': 'no-store, no-transform',
  // nginx would collect the events.
  'x-accel-buffering': 'no',
  connection: 'close',
} as const

/** The first page is read before the response begins, so that a refusal is a response of its own. */
async function sendEvents<At, P>(
  call: WaitingCall,
  readers: WaitingReaders,
  source: PageSource<At, P>,
): Promise<Outcome<unknown> | Sent> {
  const { request, reply } = call
  const events = eventsOf(call, readers, source)
  const first = await events.next()
  if (first.done) return refused(first.value)
  reply.headers(streamHeaders).send(Readable.from(withEnd(first.value, events, request.id)))
  return sent
}

async function* withEnd(first: Buffer, events: AsyncGenerator<Buffer, Problem>, requestId: string) {
  try {
    yield first
    for (;;) {
      const { done, value } = await events.next()
      yield done ? `event: end\ndata: ${JSON.stringify(problemBody(value, requestId))}\n\n` : value
      if (done) return
    }
  } finally {
    await events.return(clientLeft)
  }
}

/** Events until the stream ends; returns why. Throws only before the first. */
async function* eventsOf<At, P>(
  call: WaitingCall,
  readers: WaitingReaders,
  source: PageSource<At, P>,
): AsyncGenerator<Buffer, Problem> {
  const { request, reply, caller } = call
  const { organizationId, apiKeyId: streamOf } = caller
  const { topics } = source
  const { lifetime, heartbeat } = readers.limits
  using watch = readers.watch({ organizationId, topics, streamOf }, lifetime, request.disconnected)
  request.admitted?.releaseWhileWaiting()
  let at = source.start
  let isFirst = true
  let hasWaited = false

  /** What to send next, and how to go on; or why not. */
  async function read(): Promise<Problem | Step> {
    const page = await readShared(call, readers, source, at)
    // After the page was read: what it shows was committed before this check.
    const refusal = isFirst ? null : await call.recheck(hasWaited ? 0 : recheckAfter)
    if (refusal !== null) return refusal
    const found = source.listed(page, at)
    if (!found.ok) return found.error
    const { next, isEmpty, clock, pagination } = found.value
    at = next
    return { bytes: isFirst || !isEmpty ? encode(found.value) : null, clock, hasMore: pagination.hasMore }
  }

  try {
    while (watch.over === null) {
      const step = await read()
      if ('code' in step) return step
      if (step.bytes !== null) {
        const permit = request.admitted?.hold(step.bytes.length)
        try {
          isFirst = false
          yield step.bytes
          // While nothing happens, no page stays in memory.
          step.bytes = null
          if (!(await isRead(reply.raw))) return readsNothing
        } finally {
          permit?.release()
        }
      }
      hasWaited = !step.hasMore
      if (!hasWaited) continue
      watch.seen(step.clock)
      while (!(await watch.next(heartbeat)) && watch.over === null) {
        const refusal = await call.recheck()
        if (refusal !== null) return refusal
        yield beat
      }
    }
    return watch.over === 'stopping' ? stopping : timeUp
  } catch (error) {
    if (isFirst) throw error
    const refusal = await call.recheck().catch(() => null)
    return refusal ?? problemOf(error as Error, request)
  }
}

interface Step {
  /** Null for a page that reports nothing. */
  bytes: Buffer | null
  readonly clock: number
  readonly hasMore: boolean
}

const beat = Buffer.from(':\n\n')

/** One commit wakes all streams that are at one place: they are sent the same bytes. */
const encoded = new WeakMap<object, Buffer>()

function encode(page: ListedPage<unknown>): Buffer {
  const known = encoded.get(page)
  if (known !== undefined) return known
  const { records, pagination, checkpoint } = page
  const eventOf = (name: string) => `event: ${name}\nid: ${pagination.nextCursor}\ndata: `
  const proof = checkpoint == null ? '' : `${eventOf('checkpoint')}${JSON.stringify(checkpoint)}\n\n`
  const bytes = listBody(records, pagination, { before: eventOf('page'), after: `\n\n${proof}` })
  encoded.set(page, bytes)
  return bytes
}

/** Resolves when the connection has taken everything; to false when its client has read nothing for too long. */
async function isRead(raw: ServerResponse): Promise<boolean> {
  if (!raw.writableNeedDrain) return true
  const settled = new AbortController()
  const { signal } = settled
  const event = (name: string) => once(raw, name, { signal }).then(() => name)
  try {
    // Its socket has a timeout (`RequestAdmission.respond`), which begins anew with each byte that is read.
    const first = await Promise.race([event('drain'), event('close'), event('timeout')])
    // The event that ends the stream can be read for as long again; then the connection is closed.
    if (first === 'timeout') raw.socket?.setTimeout(raw.socket.timeout ?? 0)
    return first !== 'timeout'
  } finally {
    settled.abort()
  }
}

const clientLeft = problem('unavailable', 'The client has disconnected.')
const stopping = problem(
  'unavailable',
  'The process is stopping. Connect again: the stream goes on after the last id.',
)
const timeUp = problem(
  'unavailable',
  'The stream was open for as long as one may be. Connect again: it goes on after the last id.',
)
const readsNothing = problem(
  'unavailable',
  'Nothing of the stream was read for too long. Connect again: it goes on after the last id.',
)
