import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { readSql, schemaObject } from '../../db/sql-file.ts'
import type { Sealed } from '../../idempotency/stored-responses.ts'
import {
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
} from '../../journal/functions.ts'
import type { CallUnderClock } from '../../journal/journal.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { fromShown, hasNotEnded, shownColumns, shownStatus } from '../endpoints-table.ts'
import {
  insertDeliveriesFunction,
  missedFunction,
  newDeliveryType,
  wakeQueuesFunction,
} from '../queue/functions.ts'
import type { WebhookRow } from './webhook.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const uses = [
  lockClockFunction,
  replayedFunction,
  requireSealedWithFunction,
  storeResponseFunction,
  newDeliveryType,
  insertDeliveriesFunction,
  wakeQueuesFunction,
]

/** Each takes the organization's clock row, so that they never interleave with the creation of deliveries. */
const createFunction: SchemaFunction = schemaObject(sql('./create-webhook.sql'), uses)
const updateFunction: SchemaFunction = schemaObject(sql('./update-webhook.sql'), uses)
const deleteFunction: SchemaFunction = schemaObject(sql('./delete-webhook.sql'), uses)
export const rotateFunction: SchemaFunction = schemaObject(sql('./rotate-webhook-secret.sql'), uses)
const dropPreviousFunction: SchemaFunction = schemaObject(sql('./drop-previous-secrets.sql'), uses)
const pingFunction: SchemaFunction = schemaObject(sql('./ping-webhook.sql'), uses)

export const webhookFunctions: readonly SchemaFunction[] = [
  createFunction,
  updateFunction,
  deleteFunction,
  rotateFunction,
  dropPreviousFunction,
  pingFunction,
]

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

export type WebhookStore = ReturnType<typeof createWebhookStore>

/** Endpoints in the database. `retention`: how far back the log goes; it and all times in milliseconds. */
export function createWebhookStore(
  database: Pick<Database, 'of'>,
  callUnderClock: CallUnderClock,
  retention: number,
) {
  const shown = `${shownColumns}, ${missedFunction.name}($1, w.id, $2, $2::timestamptz - interval '${retention} milliseconds') as missed_since`

  /** Of an organization at a time, with a condition on `w` and its values from `$3` on. */
  async function select(organizationId: string, now: number, where: string, ...values: unknown[]) {
    const { rows } = await database
      .of(organizationId)
      .query<WebhookRow>(`select ${shown} ${fromShown} and ${where}`, [
        organizationId,
        formatTimestamp(now),
        ...values,
      ])
    return rows
  }

  return {
    async read(organizationId: string, id: string, now: number): Promise<WebhookRow | null> {
      const [row = null] = await select(organizationId, now, `${hasNotEnded} and w.id = $3`, id)
      return row
    },

    async list(
      organizationId: string,
      { status, createdAfter, createdBefore }: WebhookFilter,
      { limit, offset }: { readonly limit: number; readonly offset: number },
      now: number,
    ) {
      const where = `${hasNotEnded} and ($3::text is null or ${shownStatus} = $3)
        and ($4::timestamptz is null or w.created_at > $4) and ($5::timestamptz is null or w.created_at < $5)
        order by w.created_at desc, w.id desc`
      const rows = await select(organizationId, now, where, status, createdAfter, createdBefore)
      // At most fifty: all are read, so that a page past the end has the total too.
      return { rows: rows.slice(offset, offset + limit), total: rows.length }
    },

    create(
      organizationId: string,
      webhook: WebhookRow,
      headers: Sealed | null,
      secret: SecretRow,
      { now, limit, response }: { now: number; limit: number; response: EncodedResponse },
    ) {
      const row = {
        ...webhook,
        ...(headers !== null && { sealed_headers: headers.bytes.toString('hex') }),
      }
      return callUnderClock<'done' | 'limit_reached' | 'registrant_gone' | 'replayed'>(createFunction, [
        organizationId,
        webhook.id,
        formatTimestamp(now),
        JSON.stringify(row),
        secret.id,
        secret.sealed.bytes,
        secret.sealed.keyCheck,
        limit,
        response,
      ])
    },

    /** Without `headers` these stay as they are. */
    change(
      organizationId: string,
      before: WebhookRow,
      after: WebhookRow,
      options: { now: number; reset: boolean; registers: boolean; headers: Sealed | null },
    ) {
      const { now, reset, registers, headers } = options
      const row = {
        ...after,
        ...(headers !== null && {
          sealed_headers: headers.bytes.toString('hex'),
          sealed_with: headers.keyCheck.toString('hex'),
        }),
      }
      return callUnderClock<'done' | 'conflict' | 'registrant_gone'>(updateFunction, [
        organizationId,
        before.id,
        formatTimestamp(now),
        formatTimestamp(before.updated_at.getTime()),
        JSON.stringify(row),
        reset,
        registers,
      ])
    },

    /** The newest secret, which signs until it is replaced; null: there is no such endpoint. */
    async newestSecret(organizationId: string, id: string): Promise<Buffer | null> {
      const { rows } = await database.of(organizationId).query<{ sealed: Buffer }>(
        `select s.sealed from webhook_secrets s where s.organization_id = $1 and s.webhook_id = $2
           order by s.created_at desc, s.id desc limit 1`,
        [organizationId, id],
      )
      return rows[0]?.sealed ?? null
    },

    /** Whether it existed. */
    remove: (organizationId: string, id: string, now: number) =>
      callUnderClock<boolean>(deleteFunction, [organizationId, id, formatTimestamp(now)]),

    rotate(
      organizationId: string,
      before: WebhookRow,
      secret: SecretRow,
      options: {
        now: number
        updatedAt: number
        expiresAt: number
        limit: number
        response: EncodedResponse
      },
    ) {
      return callUnderClock<'done' | 'conflict' | 'limit_reached' | 'replayed'>(rotateFunction, [
        organizationId,
        before.id,
        formatTimestamp(options.now),
        formatTimestamp(before.updated_at.getTime()),
        formatTimestamp(options.updatedAt),
        secret.id,
        secret.sealed.bytes,
        secret.sealed.keyCheck,
        formatTimestamp(options.expiresAt),
        options.limit,
        options.response,
      ])
    },

    /** Whether it exists. */
    dropPrevious: (organizationId: string, id: string, now: number) =>
      callUnderClock<boolean>(dropPreviousFunction, [organizationId, id, formatTimestamp(now)]),

    ping: (
      organizationId: string,
      id: string,
      { eventId, deliveryId }: { eventId: string; deliveryId: string },
      { now, response }: { now: number; response: EncodedResponse },
    ) =>
      callUnderClock<'done' | 'missing' | 'replayed'>(pingFunction, [
        organizationId,
        id,
        formatTimestamp(now),
        eventId,
        deliveryId,
        response,
      ]),
  }
}
