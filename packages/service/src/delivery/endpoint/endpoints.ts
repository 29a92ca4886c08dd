/**
 * The operations on endpoints (specification 9), without HTTP. When another change commits first, they decide again.
 */
import { isDeepStrictEqual } from 'node:util'
import { readJson } from '@deskwire/sdk/json'
import { z } from 'zod'
import type { Caller } from '../../auth/authenticator.ts'
import type { Database } from '../../db/fair-pool.ts'
import { notServedOrganizations } from '../../db/not-served.ts'
import { byOrganization } from '../../db/steps.ts'
import type { ResponseToStore } from '../../journal/change.ts'
import { noSuch, type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import { defineField } from '../../kernel/fields/field.ts'
import { choice, flag, integer, maxWords, text, timestamp, wordList } from '../../kernel/fields/fields.ts'
import { parseCreation, parsePatch, type Shape } from '../../kernel/fields/validate.ts'
import { newId } from '../../kernel/ids.ts'
import {
  done,
  fail,
  type Outcome,
  ok,
  outcomeOf,
  type Result,
  refused,
  retryOnConflict,
} from '../../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import { endedEndpoints, pausedEndpoints } from '../endpoints-table.ts'
import type { Condition } from '../model.ts'
import { failureOf, type PendingFailure } from '../queue/endpoint-queues.ts'
import type { EventTypes } from './event-types.ts'
import { type OptionValues, optionFields, storedOptions, valuesOf } from './options.ts'
import { webhookFields } from './records.ts'
import { isSigningSecret, newSecret, secretForm } from './secrets.ts'
import type { WebhookStore } from './store.ts'
import { sealResponse, type Vault } from './vault.ts'
import type { VerifyReceiver } from './verify-receiver.ts'
import {
  type SignatureScheme,
  statusOf,
  type WebhookRecord,
  type WebhookRow,
  webhookRecord,
} from './webhook.ts'

/** Endpoints per organization (specification 9.1). */
const endpointLimit = 50

/**
 * Secrets that sign at once. Each adds 70 bytes of header and an HMAC of every body; receivers reject headers above 8
 * KiB.
 */
const signingLimit = 20

/** The part of the log's time for which a paused endpoint keeps a delivery: of 30 days 29. */
const keptWhilePaused = 29 / 30

/** Whether a URL may be a receiver: null, or why not. Always resolves anew. */
export type CheckTarget = (url: string) => Promise<Problem | null>

interface EndpointServices {
  readonly store: WebhookStore
  readonly database: Pick<Database, 'forSeveral'>
  readonly clock: Clock
  readonly eventTypes: EventTypes
  readonly checkTarget: CheckTarget
  readonly verify: VerifyReceiver
  readonly vault: Vault
  /** Milliseconds for which a replaced secret still signs. */
  readonly rotationOverlap: number
  /** Milliseconds that an endpoint may fail before it is disabled. */
  readonly disableAfter: number
  readonly failPending: (organizationId: string, webhookId: string, failure: PendingFailure) => Promise<void>
  /** How far back the log goes, in milliseconds. */
  readonly retention: number
  readonly wake: () => void
}

type WithSecret = WebhookRecord & { readonly secret: string }

export type Endpoints = ReturnType<typeof createEndpoints>

export function createEndpoints(services: EndpointServices) {
  const { store, clock, eventTypes, checkTarget, vault, disableAfter, wake } = services
  const shapes = webhookShapes(eventTypes.subscribable)

  return {
    read: (organizationId: string, id: string): Promise<WebhookRow | null> =>
      store.read(organizationId, id, clock.now()),

    async create(
      caller: Caller,
      body: unknown,
      record: ResponseToStore | null,
      signal: AbortSignal,
    ): Promise<Outcome<WithSecret>> {
      const parsed = parseCreation(shapes.creation, body)
      if (!parsed.ok) return refused(parsed.error)
      const given = parsed.value as GivenFields
      const { url, events, headers, expiresAt } = given
      const { organizationId, apiKeyId, sessionId: consoleLinkId = null } = caller
      const webhookId = newId(clock)
      const secret = given.secret ?? newSecret()
      const receiver = { organizationId, webhookId, url, secret, headers: headers ?? {} }
      const now = clock.now()
      const refusal =
        refuseEnd(expiresAt, now) ??
        eventTypes.unmeetable(given.conditions ?? [], events) ??
        eventTypes.unreadable(caller.scopes, events) ??
        (await checkTarget(url)) ??
        (given.verify ? await services.verify(receiver, signal) : null)
      if (refusal !== null) return refused(refusal)
      const fields = { ...fieldsOf(given), options: storedOptions(given), endsAt: timeOf(expiresAt) }
      const row = newRow({ id: webhookId, ...fields, apiKeyId, consoleLinkId }, now)
      const answer = { ...webhookRecord(organizationId, row, disableAfter), secret }
      const created = await store.create(
        organizationId,
        row,
        headers == null ? null : await sealedHeaders(organizationId, row.id, headers),
        await sealed(organizationId, row.id, secret),
        {
          now,
          limit: endpointLimit,
          response: await sealResponse(
            vault,
            { organizationId, webhookId: row.id },
            record,
            JSON.stringify(answer),
          ),
        },
      )
      return outcomeOf(created, answer, { registrant_gone: registrantGone, limit_reached: tooManyEndpoints })
    },

    change: (caller: Caller, id: string, body: unknown): Promise<Outcome<WebhookRecord>> =>
      decideAndCommit(caller.organizationId, id, async (row) => {
        const decided = await decideChange(caller, row, body)
        if (!decided.ok) return refused(decided.error)
        const { after, headers } = decided.value
        const recordOf = (row: WebhookRow) => done(webhookRecord(caller.organizationId, row, disableAfter))
        const shown = recordOf(after)
        if (after === row) return shown
        const activated = row.status === 'disabled' && after.status === 'active'
        // Deliveries that were pending when it was disabled must fail, even if no worker has processed them yet.
        if (activated)
          await services.failPending(caller.organizationId, id, failureOf(row.disabled_reason ?? 'manual'))
        const reset = after.failing_since === null && row.failing_since !== null
        const registers =
          activated || after.api_key_id !== row.api_key_id || after.console_link_id !== row.console_link_id
        const options = {
          now: clock.now(),
          reset,
          registers,
          headers: headers === null ? null : await sealedHeaders(caller.organizationId, id, headers),
        }
        const changed = await store.change(caller.organizationId, row, after, options)
        if (changed === 'conflict') return null
        if (changed === 'registrant_gone') return refused(registrantGone)
        wake()
        if (row.status === after.status) return shown
        // `missedSince` has changed with the status. The change has committed, whether it can be read now or not.
        const now = await store.read(caller.organizationId, id, clock.now()).catch(() => null)
        return now === null ? shown : recordOf(now)
      }),

    remove: (caller: Caller, id: string): Promise<Outcome<null>> => withOwn(caller, id, store.remove),

    async rotate(
      caller: Caller,
      id: string,
      body: unknown,
      record: ResponseToStore | null,
    ): Promise<Outcome<WithSecret>> {
      const parsed = parseCreation(rotationShape, body ?? {})
      if (!parsed.ok) return refused(parsed.error)
      const { overlap, secret: chosen } = parsed.value as {
        readonly overlap: number | null
        readonly secret: string | null
      }
      return decideAndCommit(caller.organizationId, id, async (row) => {
        const unreadable = eventTypes.unreadable(caller.scopes, row.events)
        if (unreadable !== null) return refused(unreadable)
        const { organizationId } = caller
        if (chosen !== null && (await signsNow(organizationId, id, chosen)))
          return done({ ...webhookRecord(organizationId, row, disableAfter), secret: chosen })
        const now = clock.now()
        const expiresAt = now + (overlap === null ? services.rotationOverlap : overlap * 1_000)
        const updatedAt = later(row, now)
        // Secrets that were replaced before sign to their own end, which may be later.
        const lastExpiry = Math.max(expiresAt, row.previous_secret_expires_at?.getTime() ?? 0)
        const after = {
          ...row,
          previous_secret_expires_at: lastExpiry > now ? new Date(lastExpiry) : null,
          updated_at: new Date(updatedAt),
        }
        const secret = chosen ?? newSecret()
        const answer = { ...webhookRecord(organizationId, after, disableAfter), secret }
        const owner = { organizationId, webhookId: id }
        const response = await sealResponse(vault, owner, record, JSON.stringify(answer))
        const options = { now, updatedAt, expiresAt, limit: signingLimit, response }
        const sealing = await sealed(organizationId, id, secret)
        const rotated = await store.rotate(organizationId, row, sealing, options)
        return outcomeOf(rotated, answer, { limit_reached: tooManySign(id) })
      })
    },

    /** Why the caller may not see the stored response with the secret again; null when it may. */
    async withhold(
      { organizationId, scopes }: Caller,
      call: 'create' | 'rotate',
      stored: string,
    ): Promise<Problem | null> {
      const made = readJson(stored) as WithSecret
      // The secret signs the endpoint's current event types, which may exceed those at its creation.
      const row = await store.read(organizationId, made.id, clock.now())
      return eventTypes.unreadable(scopes, [
        ...(call === 'create' ? made.events : []),
        ...(row?.events ?? []),
      ])
    },

    dropPrevious: (caller: Caller, id: string): Promise<Outcome<null>> =>
      withOwn(caller, id, store.dropPrevious),

    /**
     * Fails deliveries of paused endpoints that the log would soon no longer show, while it shows that they failed.
     */
    failPaused(): Promise<void> {
      const before = clock.now() - services.retention * keptWhilePaused
      return byOrganization<{ organization_id: string; id: string }>(
        services.database.forSeveral,
        (failed) => pausedEndpoints(notServedOrganizations, failed),
        [formatTimestamp(before)],
        async (organizationId, rows) => {
          for (const { id } of rows)
            await services.failPending(organizationId, id, {
              code: 'paused_too_long',
              message: 'the endpoint was paused for too long',
              before,
            })
        },
      )
    },

    /** Removes those that have ended, with their log. */
    removeEnded: (): Promise<void> =>
      byOrganization<{ organization_id: string; id: string }>(
        services.database.forSeveral,
        (failed) => endedEndpoints(notServedOrganizations, failed),
        [formatTimestamp(clock.now())],
        async (organizationId, rows) => {
          for (const { id } of rows) await store.remove(organizationId, id, clock.now())
        },
      ),
  }

  /** Does this to an endpoint that the caller's key registered, or could register. */
  async function withOwn(
    { organizationId, apiKeyId, scopes }: Caller,
    id: string,
    change: (organizationId: string, id: string, now: number) => Promise<boolean>,
  ): Promise<Outcome<null>> {
    const row = await store.read(organizationId, id, clock.now())
    if (row === null) return refused(noSuchWebhook(id))
    const refusal = row.api_key_id === apiKeyId ? null : eventTypes.unreadable(scopes, row.events)
    if (refusal !== null) return refused(refusal)
    return (await change(organizationId, id, clock.now())) ? done(null) : refused(noSuchWebhook(id))
  }

  /** `decide` returns null when another change committed first. */
  async function decideAndCommit<T>(
    organizationId: string,
    id: string,
    decide: (row: WebhookRow) => Promise<Outcome<T> | null>,
  ): Promise<Outcome<T>> {
    const outcome = await retryOnConflict(async () => {
      const row = await store.read(organizationId, id, clock.now())
      return row === null ? refused(noSuchWebhook(id)) : decide(row)
    })
    return outcome ?? refused(problem('unavailable', 'The endpoint keeps changing. Send it again.'))
  }

  /** The row after the change, the same object when nothing changes; and the headers if they are replaced. */
  async function decideChange(
    caller: Caller,
    row: WebhookRow,
    body: unknown,
  ): Promise<Result<{ readonly after: WebhookRow; readonly headers: OwnHeaders | null }, Problem>> {
    const { url, description, events, signatures, options } = row
    const status = statusOf(row)
    const expiresAt = row.ends_at === null ? null : formatTimestamp(row.ends_at.getTime())
    const before = { url, description, events, signatures, expiresAt, status, ...valuesOf(options) }
    const parsed = parsePatch(shapes.change, before, body)
    if (!parsed.ok) return parsed
    const { draft, sent } = parsed.value
    const given = draft as GivenFields & { readonly status: ReturnType<typeof statusOf> }
    const isPaused = given.status === 'paused'
    const after = {
      ...fieldsOf(given),
      status: given.status === 'disabled' ? given.status : ('active' as const),
      options: storedOptions(given, options, isPaused),
    }
    const headers = sent.has('headers') && given.headers != null ? given.headers : null
    const tooSoon = given.expiresAt === expiresAt ? null : refuseEnd(given.expiresAt, clock.now())
    if (tooSoon !== null) return fail(tooSoon)
    const unmeetable = eventTypes.unmeetable(given.conditions ?? [], given.events)
    if (unmeetable !== null && (sent.has('conditions') || sent.has('events'))) return fail(unmeetable)
    const matters = ['url', 'events', 'signatures', 'status', 'conditions'].some((name) => sent.has(name))
    if (matters || row.api_key_id !== caller.apiKeyId) {
      const subscribed = [...new Set([...row.events, ...after.events])]
      const unreadable = eventTypes.unreadable(caller.scopes, subscribed)
      if (unreadable !== null) return fail(unreadable)
    }
    const activates =
      sent.has('status') && after.status === 'active' && !(isPaused && row.status === 'active')
    if (sent.has('url') || (activates && row.status === 'disabled')) {
      const refusal = await checkTarget(after.url)
      if (refusal !== null) return fail(refusal)
    }
    if (options?.headers !== undefined && !sent.has('headers') && originOf(given.url) !== originOf(url))
      return fail(headersStay)
    const registers = sent.has('url') || sent.has('events') || activates
    const changed: WebhookRow = {
      ...row,
      ...after,
      ends_at: timeOf(given.expiresAt),
      api_key_id: registers ? caller.apiKeyId : row.api_key_id,
      console_link_id: registers ? (caller.sessionId ?? null) : row.console_link_id,
      ...(activates
        ? { disabled_reason: null, disabled_at: null, failing_since: null, failure_count: 0 }
        : {}),
      ...(activates && row.status === 'disabled'
        ? { gap_since: row.gap_since ?? row.disabled_at, gap_until: new Date(clock.now()) }
        : {}),
      ...(row.status === 'active' && after.status === 'disabled'
        ? { disabled_reason: 'manual', disabled_at: new Date(clock.now()) }
        : {}),
    }
    // Equal names do not say that the values are equal.
    const isSame = headers === null && isDeepStrictEqual(changed, row)
    if (isSame) return ok({ after: row, headers })
    return ok({ after: { ...changed, updated_at: new Date(later(row, clock.now())) }, headers })
  }

  function sealedHeaders(organizationId: string, webhookId: string, headers: OwnHeaders) {
    return vault.seal(JSON.stringify(headers), { organizationId, webhookId })
  }

  async function signsNow(organizationId: string, webhookId: string, secret: string): Promise<boolean> {
    const newest = await store.newestSecret(organizationId, webhookId)
    return newest !== null && vault.open(newest, { organizationId, webhookId }) === secret
  }

  async function sealed(organizationId: string, webhookId: string, secret: string) {
    return { id: newId(clock), sealed: await vault.seal(secret, { organizationId, webhookId }) }
  }
}

type OwnHeaders = Readonly<Record<string, string>>

/** What a body gives, complete. */
type GivenFields = Pick<WebhookRow, 'url' | 'description' | 'events' | 'signatures'> &
  OptionValues & {
    readonly expiresAt: string | null
    readonly secret?: string | null
    readonly verify?: boolean
    readonly headers?: OwnHeaders | null
    readonly conditions?: readonly Condition[] | null
  }

function fieldsOf({ url, description, events, signatures }: GivenFields) {
  return { url, description, events, signatures }
}

/** Milliseconds that an endpoint lasts at least. Ended ones are removed every ten minutes, so they stay few. */
const shortest = 60_000

function refuseEnd(expiresAt: string | null, now: number): Problem | null {
  if (expiresAt === null || Date.parse(expiresAt) >= now + shortest) return null
  const detail = `must be a minute from now at least: it is ${formatTimestamp(now)} now`
  return validationFailed([{ pointer: '/expiresAt', code: 'invalid_value', detail }])
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

/** Whoever may change an address must not learn what is sent to the old one. */
const headersStay = validationFailed([
  {
    pointer: '/headers',
    code: 'required',
    detail:
      'must be sent as well, or null: the headers of this endpoint are for its old host, and url names another',
  },
])

function originOf(url: string): string {
  return new URL(url).origin
}

/** A repeat authenticates again, with the key as it then is. */
const registrantGone = problem(
  'unavailable',
  'The key that this request came with was revoked or has expired meanwhile; nothing was done. Send it again.',
)

const tooManyEndpoints = problem(
  'limit_reached',
  `An organization has at most ${endpointLimit} endpoints. Delete one that is not needed.`,
)

export function noSuchWebhook(id: string): Problem {
  return noSuch('webhook', id, 'It may have been deleted; check the id.')
}

function tooManySign(id: string): Problem {
  return problem(
    'limit_reached',
    `An endpoint has at most ${signingLimit} secrets that sign, and this one has that many. DELETE /v1/webhooks/${id}/previous-secret ends all but the newest; then rotate.`,
  )
}

export function webhookDisabled(
  webhook: WebhookRow,
  then: 'retry' | 'resend' | 'recover' | 'retry now',
): Problem {
  const reason = webhook.disabled_reason ?? 'just now'
  return problem(
    'webhook_disabled',
    `The endpoint is disabled (${reason}). Fix the cause, PATCH its status to active, then ${then}.`,
  )
}

/** A later `updatedAt` than the row's, even if the clock has not moved. */
function later(row: WebhookRow, now: number): number {
  return Math.max(now, row.updated_at.getTime() + 1)
}

function newRow(
  given: Pick<WebhookRow, 'id' | 'url' | 'description' | 'events' | 'signatures' | 'options'> & {
    apiKeyId: string
    consoleLinkId: string | null
    endsAt: Date | null
  },
  now: number,
): WebhookRow {
  const { apiKeyId, consoleLinkId, endsAt, ...fields } = given
  return {
    ...fields,
    status: 'active',
    disabled_reason: null,
    disabled_at: null,
    gap_since: null,
    gap_until: null,
    missed_since: null,
    failing_since: null,
    failure_count: 0,
    last_success_at: null,
    previous_secret_expires_at: null,
    api_key_id: apiKeyId,
    console_link_id: consoleLinkId,
    ends_at: endsAt,
    created_at: new Date(now),
    updated_at: new Date(now),
  }
}

const schemes: readonly SignatureScheme[] = ['service', 'standard', 'v1a']

/** A set: repeats are dropped, and the order is fixed. */
const signatureSchemes = defineField<readonly SignatureScheme[]>(
  z
    .array(z.enum(schemes))
    .max(maxWords)
    .check((context) => {
      const isWhole = !context.value.includes('v1a') || context.value.includes('standard')
      if (context.value.includes('service') && isWhole) return
      context.issues.push({ code: 'custom', params: { code: 'invalid_value' }, input: context.value })
    })
    .transform((given) => schemes.filter((scheme) => given.includes(scheme)))
    .meta({ contains: { type: 'string', const: 'service' } }),
  'a list of service, which cannot be left out, and standard, to which v1a may be added',
  'text',
  {
    description:
      'How deliveries are signed: by X-Service-Signature, and with standard by the headers of Standard Webhooks as well, and with v1a in these also by Ed25519.',
  },
  { nullable: false, initial: ['service'], acceptsWithin: `one of ${schemes.join(', ')}` },
)

/** So that a receiver which has a secret already can keep it. */
const chosenSecret = defineField<string | null>(
  z.string().refine(isSigningSecret).meta({ pattern: secretForm.source }),
  'whsec_ and 24 to 64 bytes in standard base64',
  'text',
  { description: 'Signs deliveries: whsec_ and 24 to 64 random bytes in base64. Default: a new one.' },
)

const verify = flag({
  initial: false,
  description:
    'Whether the URL must agree first: it gets a signed POST of {"type": "verification", "challenge": …}, and must answer 2xx with {"challenge": …}, the same.',
})

const rotationFields = {
  secret: chosenSecret,
  overlap: integer({
    min: 0,
    max: 604_800,
    description:
      'How long the replaced secret still signs, in seconds, up to seven days; 0 ends it at once. Default: 24 hours, or what the operator has set.',
  }),
}

export const rotationShape: Shape = { name: 'rotation', fields: rotationFields }

/** Only a change takes `status`. */
export function webhookShapes(events: readonly string[]): {
  readonly creation: Shape
  readonly change: Shape
} {
  const fields = {
    url: text({
      required: true,
      min: 1,
      max: 2_048,
      description: 'Where deliveries go: https, a public address, no user info, no fragment.',
    }),
    description: text({ max: 255, description: 'Its purpose, for people.' }),
    events: wordList(events, {
      description:
        'The events it receives: types, all of a kind (ticket.*), or all (*), also those that come later.',
    }),
    signatures: signatureSchemes,
    expiresAt: timestamp({
      description:
        'When it ends by itself, a minute from now at least: nothing is sent any more, and it is deleted with its log. Null: it does not end.',
    }),
    ...optionFields,
  }
  const status = {
    ...choice(['active', 'paused', 'disabled'], {
      initial: 'active',
      description: 'active resets the failure count; paused keeps deliveries until it is active again.',
    }),
  }
  const changed = { ...fields, status }
  const shown = Object.keys(webhookFields(events)).filter((name) => !Object.hasOwn(changed, name))
  return {
    creation: { name: 'new webhook', fields: { ...fields, secret: chosenSecret, verify }, shown },
    change: { name: 'webhook', fields: changed, shown },
  }
}
