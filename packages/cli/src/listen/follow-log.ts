/**
 * For a service that cannot reach this machine: its delivery log is followed, and each event in it passed on as a delivery would be. The
 * events are those of the organization's endpoints, with the same ids and bodies; nothing is registered.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Delivery, WebhookEvent } from '@deskwire/sdk'
import { clientOf, isLoopback } from '../client.ts'
import { plain, printOut } from '../terminal.ts'
import { forwardingRecord, forwardingText, type Place, signedAnew } from './attend.ts'
import type { Received } from './receiver.ts'
import { isGone, mayPass } from './register.ts'

/** How often to look, in milliseconds. */
const every = 1_000

/** Whether the log is to be followed: an endpoint on this machine would be no use to the service. */
export function followsLog({ target }: Place, asked: boolean): boolean {
  return target !== null && (asked || !isLoopback(target.baseUrl))
}

/** Follows the log until `until` aborts. Rejects when the key may not read it. */
export async function followLog(
  place: Place,
  options: {
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
  const isEmpty = (await client.webhooks.list({ limit: 1 }).page()).pagination.total === 0
  let last = await newest(client)
  const none = isEmpty ? 'the organization has no endpoint yet, and so no deliveries to follow\n' : ''
  say(
    { following: target.baseUrl, ...forwardingRecord(place) },
    `following the deliveries of ${target.baseUrl}, which cannot reach this machine; Ctrl-C ends\n${none}${forwardingText(place)}`,
  )
  const seen = new Set<string>()
  let isReachable = true
  while (await pause(until)) {
    try {
      const found = await deliveriesAfter(client, last)
      if (!isReachable) say({ found: 'reachable' }, 'the service answers again\n')
      isReachable = true
      for (const delivery of found) {
        if (until.aborted) return
        if (!seen.has(delivery.eventId) && events.includes(delivery.eventType)) {
          const received = await receivedOf(client, delivery)
          if (received !== null) await receive(await signedAnew(received, place))
          seen.add(delivery.eventId)
        }
        // Not before: one that could not be read comes again.
        last = delivery
      }
    } catch (error) {
      if (!mayPass(error)) throw error
      if (isReachable) say({ found: 'unreachable' }, 'the service does not answer: waiting for it\n')
      isReachable = false
    }
  }
}

type Known = Pick<Delivery, 'id' | 'createdAt'>

async function newest(client: Client): Promise<Known> {
  const [delivery] = (await client.deliveries.list({ limit: 1 }).page()).data
  return delivery ?? { id: '', createdAt: '' }
}

/** What the log has that is newer, the oldest first. */
async function deliveriesAfter(client: Client, last: Known): Promise<readonly Delivery[]> {
  const found: Delivery[] = []
  for await (const delivery of client.deliveries.list()) {
    // The log of a deleted endpoint is gone, so the last one may be as well.
    if (delivery.id === last.id || delivery.createdAt < last.createdAt) break
    found.push(delivery)
  }
  return found.reverse()
}

/** What the receiver of that delivery gets; null where its endpoint or its subject is gone. */
async function receivedOf(client: Client, delivery: Delivery): Promise<Received | null> {
  const { id, webhookId, eventId, eventType } = delivery
  try {
    const event = (await client.deliveries.payload(webhookId, id)) as unknown as WebhookEvent
    return {
      at: new Date(),
      eventId,
      eventType,
      path: '/',
      headers: {
        'content-type': 'application/json',
        'x-service-event-id': plain(eventId),
        'x-service-event-type': plain(eventType),
      },
      body: Buffer.from(JSON.stringify(event)),
      verdict: { ok: true, event },
    }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** False when it is over. */
async function pause(until: AbortSignal): Promise<boolean> {
  await delay(every, undefined, { signal: until }).catch(() => {})
  return !until.aborted
}
