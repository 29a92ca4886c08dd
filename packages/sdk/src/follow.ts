/**
 * A sync without an end: catches up, waits for what is new, and goes on where it was whatever breaks in between
 * (specification 7.6). What a consumer of `sync` would write around it again and again stands here once.
 */
import type { Checkpoint, Row } from './envelope.ts'
import { DeskwireError } from './error.ts'
import type { CallOptions } from './options.ts'
import { defaultRetries, pauseBefore, type RetryPolicy } from './retry.ts'
import { nextPage, type SyncPage, type SyncParams } from './sync.ts'
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
  for (let isFirst = true; ; ) {
    // The first answer says where the caller stands: it is not held back.
    const from = { ...params, wait: isFirst ? undefined : wait, cursor }
    const since = policy.now()
    let page: SyncPage<T, C>
    try {
      page = await nextPage<T, C>(send, path, from, options)
    } catch (error) {
      if (!(error instanceof DeskwireError) || !error.isTransient) throw error
      const call = { method: 'GET', failure: 'unknown', retryAfterMs: error.retryAfterMs } as const
      const pause = pauseBefore(policy, failures++, call) ?? policy.maxMs
      onFailure?.(error, pause)
      await policy.sleep(pause, signal)
      continue
    }
    failures = 0
    const isNew = isFirst || page.changes.length > 0 || page.cursor !== cursor
    isFirst = false
    cursor = page.cursor
    if (isNew) yield page
    else if (policy.now() - since < heldBack) await policy.sleep(policy.baseMs, signal)
  }
}

/** Beyond what the client repeats by itself, within seconds. */
const endless = {
  limit: Number.POSITIVE_INFINITY,
  baseMs: 1_000,
  maxMs: 30_000,
  maxRetryAfterMs: Number.POSITIVE_INFINITY,
}
