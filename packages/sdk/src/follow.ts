/**
 * A sync without an end: catches up, reads what is new as a stream of events (specification 7.10) or waits for it, and
 * goes on where it was whatever breaks in between, so that no consumer of `sync` writes that itself.
 */
import type { Checkpoint, Row, SyncAnswer } from './envelope.ts'
import { DeskwireError } from './error.ts'
import { readJson } from './json.ts'
import { linesOf } from './lines.ts'
import type { CallOptions } from './options.ts'
import { connectionFailed, errorOf, unexpectedAnswer } from './problem.ts'
import { defaultRetries, pauseBefore, type RetryPolicy } from './retry.ts'
import { pageAfter, pageCall, type SyncPage, type SyncParams } from './sync.ts'
import type { Send } from './transport.ts'

export interface FollowOptions extends CallOptions {
  /**
   * Called with each failure that is waited out, and the milliseconds until the next attempt: to log it. What it
   * throws ends the following.
   */
  onFailure?: (error: DeskwireError, pauseMs: number) => void
  /**
   * The pauses between attempts, in place of 1 s doubled up to 30 s, each shortened at random; and `sleep` and `now`
   * for tests.
   */
  pauses?: Partial<Pick<RetryPolicy, 'baseMs' | 'maxMs' | 'random' | 'now' | 'sleep'>>
}

/** The longest that the service holds an answer back, in seconds. */
const longestWait = 50

/** An empty answer that came sooner was not held back: asked again at once, it would be again. Milliseconds. */
const heldBack = 1_000

/**
 * Yields pages as they come: the first one in any case, for its cursor, and from then on those that bring something.
 * Keep a page's cursor together with its rows, or after them; it is where to begin after a restart.
 *
 * It ends with its signal, whose reason is thrown, or when the caller leaves the loop. No answer, 408, 429 and 5xx
 * are waited out, for as long as it takes. Everything else is thrown as a DeskwireError, as no repetition would fix
 * it: a key that is revoked, or `cursor_too_old` (410) after a restore, when a new copy is to be begun.
 */
export async function* followPages<T extends Row, C = Checkpoint>(
  send: Send,
  path: string,
  params: SyncParams,
  { onFailure, pauses, ...options }: FollowOptions = {},
): AsyncGenerator<SyncPage<T, C>, never, undefined> {
  const policy: RetryPolicy = { ...defaultRetries, ...endless, ...pauses }
  const { signal } = options
  const { wait = longestWait } = params
  let { cursor } = params
  let failures = 0
  let isFirst = true
  let streams = true
  for (;;) {
    // The first answer says where the caller stands: it is not held back.
    const from = { ...params, wait: isFirst ? undefined : wait, cursor }
    const since = policy.now()
    let isNew = false
    let hasCome = false
    try {
      for await (const page of pagesFrom<T, C>(send, path, from, streams, options)) {
        failures = 0
        hasCome = true
        isNew = isFirst || page.changes.length > 0 || page.cursor !== cursor
        isFirst = false
        cursor = page.cursor
        if (isNew) yield page
      }
    } catch (error) {
      if (!(error instanceof DeskwireError) || !error.isTransient) throw error
      // Something in between may collect a stream to its end, with its first page; or the key has all that it may.
      if (!hasCome && (error.status === 429 || (error.cause as Error | undefined)?.name === 'TimeoutError'))
        streams = false
      const call = { method: 'GET', failure: 'unknown', retryAfterMs: error.retryAfterMs } as const
      const pause = pauseBefore(policy, failures++, call) ?? policy.maxMs
      onFailure?.(error, pause)
      await policy.sleep(pause, signal)
      continue
    }
    if (!isNew && policy.now() - since < heldBack) await policy.sleep(policy.baseMs, signal)
  }
}

/** The pages of a stream until it ends; of a service or list without one, the next page. */
async function* pagesFrom<T extends Row, C>(
  send: Send,
  path: string,
  params: SyncParams,
  streams: boolean,
  options: CallOptions,
): AsyncGenerator<SyncPage<T, C>, void, undefined> {
  const call = pageCall(path, params)
  const asStream = { accept: 'text/event-stream, application/json;q=0.9', stream: /^text\/event-stream/ }
  const answer = await send<SyncAnswer<T, C> | ReadableStream<Uint8Array>>(
    streams ? { ...call, ...asStream } : call,
    options,
  )
  if (!(answer instanceof ReadableStream)) return yield pageAfter(params.cursor, answer)
  let { cursor } = params
  // A page that has caught up waits for its checkpoint.
  let last: SyncPage<T, C> | undefined
  for await (const { type, data } of eventsOf(answer, options.signal)) {
    if (type === 'checkpoint' && last !== undefined) last.checkpoint = parsed(data)
    if (last !== undefined) yield last
    last = undefined
    if (type === 'end') {
      const { status } = parsed<{ status: number }>(data)
      const error = errorOf({ status, address: path, requestId: undefined }, data, {})
      if (error.isTransient) return
      throw error
    }
    if (type !== 'page') continue
    const page = pageAfter<T, C>(cursor, parsed(data))
    cursor = page.cursor
    if (page.hasMore) yield page
    else last = page
  }
  throw connectionFailed(new Error('The stream broke off.'))
}

async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ type: string; data: string }> {
  let type = ''
  for await (const lines of linesOf(body, signal)) {
    for (const line of lines) {
      if (line.startsWith('event: ')) type = line.slice(7)
      else if (line.startsWith('data: ')) yield { type, data: line.slice(6) }
    }
  }
}

const parsed = <V>(data: string): V => {
  try {
    return readJson(data) as V
  } catch {
    throw unexpectedAnswer(200, `An event of the stream is not JSON. It begins: ${data.slice(0, 200)}`)
  }
}

/** Beyond what the client repeats by itself, within seconds. */
const endless = {
  limit: Number.POSITIVE_INFINITY,
  baseMs: 1_000,
  maxMs: 30_000,
  maxRetryAfterMs: Number.POSITIVE_INFINITY,
}
