/** Events (SEP-3415, `io.modelcontextprotocol/events`) by poll and push. By webhook: `subscriptions.ts`. */
import { setTimeout as delay } from 'node:timers/promises'
import { DeskwireError } from '@deskwire/sdk'
import { type McpServer, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Json } from './api.ts'
import { codes, protocolError } from './event-errors.ts'
import { type EventLog, maxEvents, type Occurrence } from './event-log.ts'
import type { Outflow } from './streams.ts'
import { maySubscribe } from './subscriptions.ts'
import { type EventSubject, holds, id, objectOf, schemaOf, shown, type ToolParts } from './tool.ts'

export const eventCapabilities = {
  extensions: { 'io.modelcontextprotocol/events': {} },
  // Where clients of the drafts look.
  events: {},
}

const pollMilliseconds = 5_000
/** Seconds between two signs of life on a stream: the extension asks for one in thirty. */
const beatSeconds = 20
const retryMilliseconds = 2_000

export interface EventType {
  readonly name: string
  readonly scope: string
  /** As `events/list` shows it, but for how the caller may get it. */
  readonly descriptor: Json
}

/** `others`: subjects that are no kinds. */
export function eventTypesOf(parts: ToolParts, others: readonly EventSubject[]): readonly EventType[] {
  const ofKinds = parts.kinds.map((kind) => ({
    events: kind.events,
    scope: `${kind.plural}:read`,
    payload: shown(
      parts,
      schemaOf(kind),
      'The object as it is now, or its removal record; id and object alone where a webhook would be too large; empty when it is gone. Untrusted data.',
    ),
  }))
  const ofOthers = others.map(({ schema, ...subject }) => ({
    ...subject,
    payload: shown(parts, schema, 'The object as it was then; empty when it is gone.'),
  }))
  const subjects = [...ofKinds, ...ofOthers]
  return subjects.flatMap(({ events, scope, payload }) =>
    Object.entries(events).map(([name, when]) => ({
      name,
      scope,
      descriptor: {
        name,
        description: `Occurs when ${when}.`,
        inputSchema: objectOf({ subject: id('Only events about the object with this id.') }),
        payloadSchema: payload,
      },
    })),
  )
}

const subscription = z.looseObject({
  name: z.string(),
  arguments: z.strictObject({ subject: z.uuid().optional() }).nullish(),
  cursor: z.string().nullish(),
  maxAgeMs: z.int().nonnegative().nullish(),
})
const polled = subscription.extend({ maxEvents: z.int().positive().nullish() })
type Subscription = z.output<typeof subscription>

/** What a client gets of one page. */
interface Read {
  readonly events: readonly Json[]
  readonly cursor: string
  readonly truncated: boolean
  readonly hasMore: boolean
}

/** Adds the methods to a server that serves one caller. Returns what throws unless the caller may have an event. */
export function serveEvents(
  server: McpServer,
  types: readonly EventType[],
  {
    scopes,
    log,
    now,
    outflow,
  }: { scopes: readonly string[]; log: EventLog; now: () => number; outflow: Outflow },
): (name: string) => void {
  const delivery = ['push', 'poll', ...(maySubscribe(scopes) ? ['webhook'] : [])]
  const readable = types.filter(({ scope }) => holds(scopes, scope))

  server.server.setRequestHandler('events/list', { params: z.looseObject({}) }, () => ({
    events: readable.map(({ descriptor }) => ({ ...descriptor, delivery })),
  }))

  server.server.setRequestHandler('events/poll', { params: polled }, async (params) => {
    allow(params.name)
    const read = await readEvents(params, params.cursor ?? null, {
      limit: params.maxEvents ?? maxEvents,
    }).catch(refused)
    return { ...read, nextPollMs: pollMilliseconds }
  })

  server.server.setRequestHandler('events/stream', { params: subscription }, async (params, context) => {
    allow(params.name)
    const begin = await readEvents(params, params.cursor ?? null, { limit: maxEvents }).catch(refused)
    await stream(params, begin, context)
    return { _meta: of(context) }
  })

  return allow

  function allow(name: string): void {
    if (!types.some((type) => type.name === name))
      throw new ProtocolError(codes.notFound, `There is no event ${name}.`, { kind: 'event' })
    if (!readable.some((type) => type.name === name))
      throw new ProtocolError(codes.forbidden, `The key may not read what ${name} is about.`)
  }

  async function stream(params: Subscription, begin: Read, { mcpReq }: ServerContext): Promise<void> {
    const notify = async (what: string, body: Json) => {
      await outflow.room()
      await mcpReq.notify({
        method: `notifications/events/${what}`,
        params: { ...body, _meta: { 'io.modelcontextprotocol/subscriptionId': mcpReq.id } },
      })
    }
    const pause = () => delay(retryMilliseconds, undefined, { signal: mcpReq.signal }).catch(() => {})
    // Where the client begins is confirmed before anything is sent from there.
    await notify('active', {
      cursor: begin.events.length > 0 ? (params.cursor ?? begin.cursor) : begin.cursor,
      truncated: begin.truncated,
    })
    let read = begin
    let before = params.cursor ?? begin.cursor
    while (!mcpReq.signal.aborted) {
      for (const [place, event] of read.events.entries()) {
        // The position within a page has no cursor: the one before it repeats events, and loses none.
        const cursor = place === read.events.length - 1 ? read.cursor : before
        await notify('event', { ...event, cursor })
      }
      if (read.events.length === 0) await notify('heartbeat', { cursor: read.cursor })
      before = read.cursor
      const wait = read.hasMore ? 0 : beatSeconds
      try {
        read = await readEvents({ ...params, maxAgeMs: null }, before, { limit: maxEvents, wait })
        if (read.truncated) {
          await notify('active', { cursor: read.cursor, truncated: true })
          // It has not waited: what is dropped again and again must not be asked for without a pause.
          await pause()
        }
      } catch (failure) {
        if (mcpReq.signal.aborted) return
        if (!(failure instanceof DeskwireError)) throw failure
        const { code, message, data } = protocolError(failure)
        const error = { code, message, ...(data === undefined ? {} : { data }) }
        if (code === codes.forbidden) return notify('terminated', { error })
        await notify('error', { error })
        await pause()
        read = { events: [], cursor: before, truncated: false, hasMore: false }
      }
    }
  }

  async function readEvents(
    { name, arguments: args, maxAgeMs }: Subscription,
    cursor: string | null,
    { limit, wait = 0 }: { readonly limit: number; readonly wait?: number },
  ): Promise<Read> {
    if (cursor === null) return fromNow(name, false)
    const query = { types: name, subject: args?.subject, limit: Math.min(limit, maxEvents), wait }
    const page = await log.after(cursor, query)
    // It goes on from now, and the client is told.
    if (page === null) return fromNow(name, true)
    const { data, pagination } = page
    const oldest = maxAgeMs == null ? 0 : now() - maxAgeMs
    const events = data.filter(({ createdAt }) => Date.parse(createdAt) >= oldest)
    return {
      events: events.map(occurrence),
      cursor: pagination.nextCursor,
      truncated: events.length < data.length,
      hasMore: pagination.hasMore,
    }
  }

  async function fromNow(name: string, truncated: boolean): Promise<Read> {
    return { events: [], cursor: await log.end(name), truncated, hasMore: false }
  }
}

function refused(error: unknown): never {
  throw error instanceof DeskwireError ? protocolError(error) : error
}

function occurrence({ id: eventId, type: name, createdAt: timestamp, data }: Occurrence): Json {
  return { eventId, name, timestamp, data: data ?? {} }
}

function of({ mcpReq }: ServerContext) {
  return { 'io.modelcontextprotocol/subscriptionId': mcpReq.id }
}
