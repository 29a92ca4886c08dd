/**
 * For a service that cannot reach this machine: its events are read in their order, and each is passed on once, as a
 * delivery would be. Nothing is registered.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, DeskwireError, EventPage, ListedEvent, WebhookEvent } from '@deskwire/sdk'
import { clientOf, isLoopback } from '../client.ts'
import { plain, printError, printOut } from '../terminal.ts'
import { eventTypes } from '../triggers.ts'
import { forwardingRecord, forwardingText, type Place, signedAnew } from './attend.ts'
import type { Received } from './receiver.ts'
import { mayPass } from './register.ts'

/** How long the service may hold an empty answer back, in seconds: less than proxies allow. */
const wait = 20
/** The pause before it is asked again after a failure, in milliseconds, unless it asks for a longer one. */
const pauseMs = 1_000

/** No object has it, so that no event is about it. */
const nothing = '01980000-0000-7000-8000-000000000000'

/** Whether events are to be read: an endpoint on this machine would be no use to the service. */
export function followsLog({ target }: Place, isRequested: boolean): boolean {
  return target !== null && (isRequested || !isLoopback(target.baseUrl))
}

/** Follows the events until `until` aborts, from `cursor` on, or from now. Rejects when the key may not read them. */
export async function followLog(
  place: Place,
  options: {
    readonly cursor: string | undefined
    readonly json: boolean
    readonly receive: (received: Received) => Promise<unknown>
    readonly until: AbortSignal
  },
): Promise<void> {
  const { target, events } = place
  const { json, receive, until } = options
  if (target === null) return
  const say = (record: object, text: string) => void printOut(json ? `${JSON.stringify(record)}\n` : text)
  const client = clientOf(target, { retries: 0 })
  // Without a choice these are all that the key may read.
  const types = events.length < eventTypes.length ? events : undefined
  let cursor = options.cursor ?? (await endOfLog(client))
  const why = isLoopback(target.baseUrl) ? '' : ', as it cannot reach this machine'
  say(
    { following: target.baseUrl, ...forwardingRecord(place) },
    `following the events of ${target.baseUrl}${why}, Ctrl-C ends\n${forwardingText(place)}`,
  )
  let isReachable = true
  const pause = (ms: number) => delay(ms, undefined, { signal: until }).catch(() => {})
  while (!until.aborted) {
    const began = performance.now()
    let page: EventPage
    try {
      page = await client.events.list({ types, cursor, limit: 100, wait }, { signal: until }).page()
    } catch (error) {
      if (until.aborted) break
      if (!mayPass(error)) throw error
      if (isReachable) say({ found: 'unreachable' }, 'the service does not answer: waiting for it\n')
      isReachable = false
      const { retryAfterMs = 0 } = error as DeskwireError
      await pause(Math.max(pauseMs, retryAfterMs))
      continue
    }
    if (!isReachable) say({ found: 'reachable' }, 'the service answers again\n')
    isReachable = true
    let passed = 0
    for (const event of page.data) {
      if (until.aborted) break
      // A delivery about an object that is gone is not sent either.
      if (event.data !== null) await receive(await signedAnew(receivedOf(event), place))
      passed++
    }
    const { nextCursor } = page.pagination
    const isWhole = passed === page.data.length
    cursor = isWhole ? nextCursor : await cursorAfter(client, { types, cursor, limit: passed })
    // An empty answer that was not held back would come again at once.
    const isIdle = page.data.length === 0 && !page.pagination.hasMore
    if (isIdle && performance.now() - began < pauseMs) await pause(pauseMs)
  }
  if (json) say({ object: 'listen_end', nextCursor: cursor }, '')
  else printError(`to go on from here: --cursor ${plain(cursor)}\n`)
}

/**
 * The cursor after the last event that there is: by the service's clock, which the one of this machine may differ
 * from.
 */
async function endOfLog(client: Client): Promise<string> {
  return (await client.events.list({ subject: nothing, limit: 1 }).page()).pagination.nextCursor
}

/**
 * The cursor after the first events of a page; the page's own where the service does not answer, so that none is left
 * out.
 */
async function cursorAfter(
  client: Client,
  page: { readonly types: readonly string[] | undefined; readonly cursor: string; readonly limit: number },
): Promise<string> {
  if (page.limit === 0) return page.cursor
  try {
    return (await client.events.list(page, { timeoutMs: 5_000 }).page()).pagination.nextCursor
  } catch (error) {
    if (!mayPass(error)) throw error
    printError('the service does not answer: events that were passed on last come again after --cursor\n')
    return page.cursor
  }
}

/** What the receiver of a delivery of the event gets. */
function receivedOf(event: ListedEvent): Received {
  return {
    at: new Date(),
    eventId: event.id,
    eventType: event.type,
    path: '/',
    headers: {
      'content-type': 'application/json',
      'x-service-event-id': plain(event.id),
      'x-service-event-type': plain(event.type),
    },
    body: Buffer.from(JSON.stringify(event)),
    verdict: { ok: true, event: event as WebhookEvent },
  }
}
