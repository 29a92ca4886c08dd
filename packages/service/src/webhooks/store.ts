import type { Database } from '../db/fair-pool.ts'
import { missedFunction } from '../delivery/missed.ts'
import type { Sealed } from '../idempotency/stored-responses.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import {
  createFunction,
  deleteFunction,
  dropPreviousFunction,
  pingFunction,
  refreshFunction,
  resendFunction,
  retryFunction,
  rotateFunction,
  updateFunction,
} from './functions.ts'
import { fromShown, shownColumns, verifiedUrl } from './table/endpoints.ts'
import type { WebhookRow } from './webhook.ts'

/** A response to store for an Idempotency-Key, as the functions take it; null stores nothing. */
export type EncodedResponse = string | null

interface WebhookFilter {
  readonly status: string | null
  readonly createdAfter: string | null
  readonly createdBefore: string | null
}

interface SecretRow {
  readonly id: string
  readonly sealed: Sealed
}

/** Where a new subscription goes on from: an event, and its time in milliseconds. */
interface Beginning {
  readonly recoveryId: string
  readonly position: string
  readonly since: number
}

export interface WebhookStore {
  read(organizationId: string, id: string, now: number): Promise<WebhookRow | null>
  /** The endpoint of a subscription. */
  readSubscription(organizationId: string, subscriptionId: string, now: number): Promise<WebhookRow | null>
  /** Extends it, with a new secret unless that is null: 'conflict' when it has ended. */
  refresh(
    organizationId: string,
    id: string,
    secret: SecretRow | null,
    options: { now: number; endsAt: number; expiresAt: number; recoveryId: string },
  ): Promise<'done' | 'conflict'>
  /** Whether a subscription of the key has this URL, whose receiver has then agreed to deliveries. */
  hasVerified(organizationId: string, apiKeyId: string, url: string, now: number): Promise<boolean>
  list(
    organizationId: string,
    filter: WebhookFilter,
    page: { readonly limit: number; readonly offset: number },
    now: number,
  ): Promise<{ readonly rows: readonly WebhookRow[]; readonly total: number }>
  create(
    organizationId: string,
    webhook: WebhookRow,
    headers: Sealed | null,
    secret: SecretRow,
    options: { now: number; limit: number; response: EncodedResponse; beginning?: Beginning | null },
  ): Promise<'done' | 'limit_reached' | 'registrant_gone' | 'replayed' | 'conflict'>
  change(
    organizationId: string,
    before: WebhookRow,
    after: WebhookRow,
    options: {
      now: number
      reset: boolean
      registers: boolean
      /** Missing: as they are. */
      headers?: Sealed | null
    },
  ): Promise<'done' | 'conflict' | 'registrant_gone'>
  /** The newest first. */
  signingSecrets(organizationId: string, id: string, now: number): Promise<readonly Buffer[]>
  remove(organizationId: string, id: string, now: number): Promise<boolean>
  rotate(
    organizationId: string,
    before: WebhookRow,
    secret: SecretRow,
    options: { now: number; updatedAt: number; expiresAt: number; limit: number; response: EncodedResponse },
  ): Promise<'done' | 'conflict' | 'limit_reached' | 'replayed'>
  dropPrevious(organizationId: string, id: string, now: number): Promise<boolean>
  ping(
    organizationId: string,
    id: string,
    ids: { eventId: string; deliveryId: string },
    options: { now: number; response: EncodedResponse },
  ): Promise<'done' | 'missing' | 'replayed'>
  retry(
    organizationId: string,
    webhookId: string,
    deliveryId: string,
    options: { now: number; updatedAt: number; attempts: number; response: EncodedResponse },
  ): Promise<'done' | 'refused' | 'replayed'>
  resend(
    organizationId: string,
    webhookId: string,
    ids: { deliveryId: string; newId: string },
    options: { now: number; attempts: number; response: EncodedResponse },
  ): Promise<'done' | 'refused' | 'replayed'>
  isPending(organizationId: string, webhookId: string, eventId: string): Promise<boolean>
}

export function createWebhookStore(
  database: Pick<Database, 'of'>,
  callUnderClock: CallUnderClock,
  /** How far back the log goes, in milliseconds. */
  retention: number,
): WebhookStore {
  const shown = `${shownColumns}, ${missedFunction.name}($1, w.id, $2, $2::timestamptz - interval '${retention} milliseconds') as missed_since`
  return {
    async read(organizationId, id, now) {
      const { rows } = await database
        .of(organizationId)
        .query<WebhookRow>(`select ${shown} ${fromShown} and w.id = $3`, [
          organizationId,
          formatTimestamp(now),
          id,
        ])
      return rows[0] ?? null
    },

    async list(organizationId, filter, page, now) {
      const where = `${fromShown} and ($3::text is null or w.status = $3)
        and ($4::timestamptz is null or w.created_at > $4) and ($5::timestamptz is null or w.created_at < $5)`
      const { rows } = await database
        .of(organizationId)
        .query<WebhookRow>(`select ${shown} ${where} order by w.created_at desc, w.id desc`, [
          organizationId,
          formatTimestamp(now),
          filter.status,
          filter.createdAfter,
          filter.createdBefore,
        ])
      // At most fifty: all are read, so that a page past the end has the total too.
      return { rows: rows.slice(page.offset, page.offset + page.limit), total: rows.length }
    },

    async readSubscription(organizationId, subscriptionId, now) {
      const { rows } = await database
        .of(organizationId)
        .query<WebhookRow>(`select ${shown} ${fromShown} and w.subscription_id = $3`, [
          organizationId,
          formatTimestamp(now),
          subscriptionId,
        ])
      return rows[0] ?? null
    },

    refresh(organizationId, id, secret, { now, endsAt, expiresAt, recoveryId }) {
      return callUnderClock(refreshFunction, [
        organizationId,
        id,
        formatTimestamp(now),
        formatTimestamp(endsAt),
        secret?.id ?? null,
        secret?.sealed.bytes ?? null,
        secret?.sealed.keyCheck ?? null,
        formatTimestamp(expiresAt),
        recoveryId,
        formatTimestamp(now - retention),
      ])
    },

    async hasVerified(organizationId, apiKeyId, url, now) {
      const { rows } = await database
        .of(organizationId)
        .query(verifiedUrl, [organizationId, apiKeyId, url, formatTimestamp(now)])
      return rows.length > 0
    },

    create(organizationId, webhook, headers, secret, { now, limit, response, beginning = null }) {
      const { id, url, description, events, signatures, options, api_key_id, console_link_id } = webhook
      const { subscription_id, ends_at } = webhook
      const row = JSON.stringify({
        url,
        description,
        events,
        signatures,
        options,
        ...(headers === null ? {} : { sealed_headers: headers.bytes.toString('hex') }),
        api_key_id,
        console_link_id,
        ...(subscription_id === null ? {} : { subscription_id, ends_at }),
        ...(beginning === null
          ? {}
          : {
              recovery_id: beginning.recoveryId,
              position: beginning.position,
              since: formatTimestamp(beginning.since),
            }),
      })
      const at = formatTimestamp(now)
      return callUnderClock(createFunction, [
        organizationId,
        id,
        at,
        row,
        secret.id,
        secret.sealed.bytes,
        secret.sealed.keyCheck,
        limit,
        response,
      ])
    },

    change(organizationId, before, after, { now, reset, registers, headers }) {
      const { options } = after
      const { url, description, events, signatures, status, api_key_id, console_link_id, updated_at } = after
      const { disabled_reason, disabled_at, gap_since, gap_until } = after
      return callUnderClock(updateFunction, [
        organizationId,
        before.id,
        formatTimestamp(now),
        formatTimestamp(before.updated_at.getTime()),
        JSON.stringify({
          url,
          description,
          events,
          signatures,
          options,
          ...(headers == null
            ? {}
            : {
                sealed_headers: headers.bytes.toString('hex'),
                sealed_with: headers.keyCheck.toString('hex'),
              }),
          status,
          disabled_reason,
          disabled_at,
          gap_since,
          gap_until,
          api_key_id,
          console_link_id,
          updated_at,
        }),
        reset,
        registers,
      ])
    },

    async signingSecrets(organizationId, id, now) {
      const { rows } = await database.of(organizationId).query<{ sealed: Buffer }>(
        `select s.sealed from webhook_secrets s where s.organization_id = $1 and s.webhook_id = $2
           and (s.expires_at is null or s.expires_at > $3) order by s.created_at desc, s.id desc`,
        [organizationId, id, formatTimestamp(now)],
      )
      return rows.map(({ sealed }) => sealed)
    },

    remove: (organizationId, id, now) =>
      callUnderClock(deleteFunction, [organizationId, id, formatTimestamp(now)]),

    rotate(organizationId, before, secret, { now, updatedAt, expiresAt, limit, response }) {
      return callUnderClock(rotateFunction, [
        organizationId,
        before.id,
        formatTimestamp(now),
        formatTimestamp(before.updated_at.getTime()),
        formatTimestamp(updatedAt),
        secret.id,
        secret.sealed.bytes,
        secret.sealed.keyCheck,
        formatTimestamp(expiresAt),
        limit,
        response,
      ])
    },

    dropPrevious: (organizationId, id, now) =>
      callUnderClock(dropPreviousFunction, [organizationId, id, formatTimestamp(now)]),

    ping(organizationId, id, { eventId, deliveryId }, { now, response }) {
      return callUnderClock(pingFunction, [
        organizationId,
        id,
        formatTimestamp(now),
        eventId,
        deliveryId,
        response,
      ])
    },

    retry(organizationId, webhookId, deliveryId, { now, updatedAt, attempts, response }) {
      return callUnderClock(retryFunction, [
        organizationId,
        webhookId,
        formatTimestamp(now),
        deliveryId,
        formatTimestamp(updatedAt),
        attempts,
        response,
      ])
    },

    resend(organizationId, webhookId, { deliveryId, newId }, { now, attempts, response }) {
      return callUnderClock(resendFunction, [
        organizationId,
        webhookId,
        formatTimestamp(now),
        deliveryId,
        newId,
        attempts,
        response,
      ])
    },

    async isPending(organizationId, webhookId, eventId) {
      const { rows } = await database.of(organizationId).query(
        `select 1 from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.event_id = $3
           and d.log_day = 'infinity' limit 1`,
        [organizationId, webhookId, eventId],
      )
      return rows.length > 0
    },
  }
}
