/**
 * Subscriptions of agents (SEP-3415): endpoints with the client's secret, an end, and the key that subscribed as owner.
 * Queue, sender, log and address rules are those of every endpoint.
 */
import { createHash } from 'node:crypto'
import type { Caller } from '../auth/authenticator.ts'
import type { Database } from '../db/fair-pool.ts'
import type { Watermark } from '../delivery/model.ts'
import { cursorAt, eventsResource, readWatermark } from '../delivery/subscription.ts'
import { parseTargetUrl } from '../delivery/target/url.ts'
import { type Cursor, decodeCursor } from '../kernel/cursor.ts'
import { type Problem, problem, validationFailed } from '../kernel/errors.ts'
import { firstIdAt, newId } from '../kernel/ids.ts'
import { done, type Outcome, refused, retryOnConflict } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { newRow, registrantGone } from './endpoints.ts'
import type { EventTypes } from './event-types.ts'
import { isSigningSecret } from './secrets.ts'
import type { WebhookStore } from './store.ts'
import type { Vault } from './vault.ts'
import type { WebhookRow } from './webhook.ts'

/** Of an organization. */
export const subscriptionLimit = 100

/** Milliseconds that a subscription lasts: as long as the client asks, within these. */
const shortest = 60_000
const longest = 86_400_000

export interface Identity {
  readonly name: string
  readonly url: string
  /** Only events about this object. */
  readonly subject: string | null
}

export interface Asked extends Identity {
  readonly secret: string
  /** Milliseconds; null: as long as possible. */
  readonly ttl: number | null
  readonly cursor: string | null
  /** Milliseconds: older events are not replayed. */
  readonly maxAge: number | null
}

export interface Subscribed {
  readonly id: string
  readonly refreshBefore: string
  readonly cursor: string
  readonly truncated: boolean
}

/** Asks the receiver whether it wants deliveries of the subscription with this id; null, or why not. */
export type Challenge<E> = (subscriptionId: string, asked: Asked) => Promise<E | null>

export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions(services: {
  readonly store: WebhookStore
  readonly database: Pick<Database, 'of'>
  readonly clock: Clock
  readonly eventTypes: EventTypes
  readonly vault: Vault
  readonly rotationOverlap: number
  readonly retention: number
  readonly wake: () => void
}) {
  const { store, database, clock, eventTypes, vault, rotationOverlap, retention, wake } = services

  return {
    /** Subscribes or refreshes, as the key of the caller. */
    async subscribe<E>(
      caller: Caller,
      asked: Asked,
      challenge: Challenge<E>,
    ): Promise<Outcome<Subscribed, Problem | E>> {
      const refusal = eventTypes.unreadable(caller.scopes, [asked.name]) ?? invalid(asked)
      if (refusal !== null) return refused(refusal)
      const { organizationId, apiKeyId } = caller
      const { cursor } = asked
      const from = cursor === null ? null : decodeCursor(cursor, eventsResource, organizationId)
      if (cursor !== null && from === null) return refused(notACursor)
      const id = idOf(apiKeyId, asked)
      if (!(await store.hasVerified(organizationId, apiKeyId, asked.url, clock.now()))) {
        const failure = await challenge(id, asked)
        if (failure !== null) return refused(failure)
      }
      const outcome = await retryOnConflict(() => subscribeOnce(caller, id, asked, from))
      if (outcome?.outcome === 'done') wake()
      return outcome ?? refused(problem('unavailable', 'The subscription keeps changing. Send it again.'))
    },

    async unsubscribe({ organizationId, apiKeyId }: Caller, of: Identity): Promise<Outcome<null>> {
      const row = await store.readSubscription(organizationId, idOf(apiKeyId, of), clock.now())
      const removed = row !== null && (await store.remove(organizationId, row.id, clock.now()))
      return removed && isLive(row) ? done(null) : refused(noSubscription)
    },
  }

  /** Null when another call was first. */
  async function subscribeOnce(
    caller: Caller,
    id: string,
    asked: Asked,
    from: Cursor | null,
  ): Promise<Outcome<Subscribed> | null> {
    const { organizationId, apiKeyId, sessionId: consoleLinkId = null } = caller
    const now = clock.now()
    const row = await store.readSubscription(organizationId, id, now)
    const isNew = row === null || !isLive(row)
    // With a row the watermark is its own; without, only the clock counts.
    const webhookId = isNew ? newId(clock) : row.id
    const start = startOf(from, await watermarkOf(organizationId, webhookId), asked, now)
    const endsAt = now + Math.min(Math.max(asked.ttl ?? longest, shortest), longest)
    if (isNew) {
      if (row !== null) await store.remove(organizationId, row.id, now)
      const { position, since } = start
      const created = await store.create(
        organizationId,
        newRow(
          {
            id: webhookId,
            url: asked.url,
            description: null,
            events: [asked.name],
            signatures: ['service', 'standard'],
            options: optionsOf(asked),
            apiKeyId,
            consoleLinkId,
            endsAt: new Date(endsAt),
            subscriptionId: id,
          },
          now,
        ),
        null,
        await sealed(organizationId, webhookId, asked.secret),
        {
          now,
          limit: subscriptionLimit,
          response: null,
          beginning: position === null ? null : { recoveryId: newId(clock), position, since },
        },
      )
      if (created === 'conflict') return null
      if (created === 'limit_reached') return refused(tooMany)
      if (created !== 'done') return refused(registrantGone)
    } else {
      const refreshed = await store.refresh(
        organizationId,
        webhookId,
        (await signsNow(organizationId, webhookId, asked.secret))
          ? null
          : await sealed(organizationId, webhookId, asked.secret),
        { now, endsAt, expiresAt: now + rotationOverlap, recoveryId: newId(clock) },
      )
      if (refreshed === 'conflict') return null
    }
    const reached = await watermarkOf(organizationId, webhookId)
    return done({
      id,
      refreshBefore: formatTimestamp(endsAt),
      cursor: cursorAt(organizationId, reached),
      truncated: isNew ? start.truncated : start.isOther,
    })
  }

  function isLive({ ends_at: endsAt, disabled_reason: reason }: WebhookRow): boolean {
    return endsAt !== null && endsAt.getTime() > clock.now() && reason !== 'registrant_revoked'
  }

  function watermarkOf(organizationId: string, webhookId: string): Promise<Watermark> {
    const key = { organizationId, webhookId }
    return readWatermark(database.of(organizationId), key, { now: clock.now(), retention })
  }

  /** The event after which a new subscription begins; null: now. */
  function startOf(
    from: Cursor | null,
    { epoch, droppedTo }: Watermark,
    { maxAge }: Asked,
    now: number,
  ): Start {
    const fromNow = { position: null, since: now, truncated: false, isOther: false }
    if (from === null) return fromNow
    const { at, id } = from.position
    const isOther = from.epoch !== epoch
    if (isOther || (droppedTo !== null && droppedTo > id)) return { ...fromNow, truncated: true, isOther }
    const oldest = maxAge === null ? 0 : now - maxAge
    if (at < oldest) return { position: firstIdAt(oldest), since: oldest, truncated: true, isOther }
    return { position: id, since: at, truncated: false, isOther }
  }

  async function sealed(organizationId: string, webhookId: string, secret: string) {
    return { id: newId(clock), sealed: await vault.seal(secret, { organizationId, webhookId }) }
  }

  async function signsNow(organizationId: string, webhookId: string, secret: string): Promise<boolean> {
    const [newest] = await store.signingSecrets(organizationId, webhookId, clock.now())
    return newest !== undefined && vault.open(newest, { organizationId, webhookId }) === secret
  }
}

interface Start {
  readonly position: string | null
  readonly since: number
  readonly truncated: boolean
  /** The database was restored since. */
  readonly isOther: boolean
}

/** The same for the same key, address, event and arguments, in every process. */
function idOf(apiKeyId: string, { url, name, subject }: Identity): string {
  const key = JSON.stringify([apiKeyId, url, name, subject === null ? {} : { subject }])
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

function optionsOf({ subject }: Identity) {
  return subject === null ? null : { conditions: [{ field: 'id', op: 'equals', value: subject } as const] }
}

/** Why the address or the secret cannot be used; null: they can. */
function invalid({ url, secret }: Asked): Problem | null {
  const target = parseTargetUrl(url)
  if (!target.ok) return wrong('/delivery/url', target.error.detail)
  return isSigningSecret(secret)
    ? null
    : wrong('/delivery/secret', 'must be whsec_ and 24 to 64 bytes in base64')
}

function wrong(pointer: string, detail: string): Problem {
  return validationFailed([{ pointer, code: 'invalid_value', detail }])
}

const notACursor = problem(
  'invalid_cursor',
  'The cursor is not one of these events. Send a cursor of this organization unchanged, or null.',
)

const noSubscription = problem(
  'not_found',
  'This key has no subscription to this event with these arguments and this URL.',
)

const tooMany = problem(
  'limit_reached',
  `An organization has at most ${subscriptionLimit} subscriptions. End one that is not needed.`,
)
