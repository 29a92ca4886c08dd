/** How a delivery is shown: a line for people, or a line of JSON. */
import { clipped } from '@deskwire/sdk/clipped'
import { plain } from '../terminal.ts'
import type { Forwarded } from './forward.ts'
import type { Received } from './receiver.ts'

/** `repeat`: an event with this id has come before. `forwarded`: null where deliveries are not passed on. */
export function humanLine(received: Received, repeat: boolean, forwarded: Forwarded | null): string {
  const { at, eventId, eventType, body, verdict } = received
  const shown = verdict.ok ? summary(verdict.event.data) : cut(body.toString('utf8'))
  const judged = verdict.ok ? 'verified' : `NOT VERIFIED, ${verdict.reason}: ${verdict.detail}`
  const parts = [
    at.toISOString().slice(11),
    cut(eventType || '(no type)').padEnd(21),
    cut(eventId || '(no id)'),
  ]
  const passed = forwarded === null ? [] : [answered(forwarded)]
  return `${plain([...parts, repeat ? `${judged}, again` : judged, ...passed, shown].join('  '))}\n`
}

export function jsonLine(received: Received, repeat: boolean, forwarded: Forwarded | null): string {
  const { at, eventId, eventType, body, verdict } = received
  const passed = forwarded === null ? {} : { forwarded }
  const common = { at: at.toISOString(), eventType, eventId, verified: verdict.ok, repeat, ...passed }
  const rest = verdict.ok
    ? { event: verdict.event }
    : { reason: verdict.reason, detail: verdict.detail, body: body.toString('utf8') }
  return `${JSON.stringify({ ...common, ...rest })}\n`
}

/** `200 from http://localhost:3000/hook in 12 ms`. */
function answered(forwarded: Forwarded): string {
  const { url, durationMs } = forwarded
  return 'status' in forwarded
    ? `${forwarded.status} from ${url} in ${durationMs} ms`
    : `NO ANSWER from ${url}: ${cut(forwarded.error)}`
}

/** The object of an event, and as of when. */
function summary(data: object): string {
  const { object, id, resource, removedAt, updatedAt } = data as Record<string, unknown>
  if (object === 'removed') return cut(`${resource} ${id} removed at ${removedAt}`)
  return object === undefined ? '{}' : cut(`${inWords(data)} as of ${updatedAt}`)
}

/** An object in a few words: what it is, what it is called, where it stands. */
export function inWords(row: object): string {
  const { object, id, name, subject, title, status } = row as Record<string, unknown>
  const called = [name, subject, title].find((text) => typeof text === 'string')
  const words = [object, id, called === undefined ? '' : JSON.stringify(called), status ?? '']
  return cut(words.filter((word) => word !== '').join(' '))
}

/** A text of a server, on one line and not too long. */
function cut(text: string): string {
  return plain(clipped(text, 160))
}
