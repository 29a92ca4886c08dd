/** Recoveries in the API: validation, rows and records (specification 11.4). */
import type { Database } from '../../../db/fair-pool.ts'
import type { SchemaFunction } from '../../../db/migration.ts'
import { readSql, schemaObject } from '../../../db/sql-file.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../../../journal/functions.ts'
import type { CallUnderClock } from '../../../journal/journal.ts'
import { type Problem, validationFailed } from '../../../kernel/errors.ts'
import { flag, timestamp } from '../../../kernel/fields/fields.ts'
import { parseCreation, type Shape } from '../../../kernel/fields/validate.ts'
import { fail, ok, type Result } from '../../../kernel/outcome.ts'
import { formatTimestamp } from '../../../kernel/timestamps.ts'
import type { EncodedResponse } from '../../endpoint/store.ts'
import type { RecoveryRow } from '../../endpoint/webhook.ts'

const recoveryFields = {
  since: timestamp({
    required: true,
    description:
      "Events from here on, this moment included; no longer ago than the delivery log goes back. Earlier than the endpoint's createdAt is read as createdAt, unless includeBeforeCreation is true.",
  }),
  until: timestamp({ description: 'Events up to here, this moment included; by default all until now.' }),
  includeBeforeCreation: flag({
    initial: false,
    description: 'Whether events from before the endpoint was registered are sent too.',
  }),
  includeSucceeded: flag({
    initial: false,
    description:
      'Whether events that the receiver has answered with a 2xx are sent again, each as a new delivery.',
  }),
}

export const recoveryShape: Shape = { name: 'recovery', fields: recoveryFields }

/** In milliseconds since the Unix epoch, both ends in it. */
export interface Window {
  readonly since: number
  readonly until: number
  readonly includeSucceeded: boolean
}

/**
 * The window of a body. `latest`: its default and latest end; `now` and `retention` limit its beginning, as does
 * `registeredAt`.
 */
export function parseWindow(
  body: unknown,
  limits: { now: number; latest: number; retention: number; registeredAt: number },
): Result<Window, Problem> {
  const { now, latest, retention, registeredAt } = limits
  const parsed = parseCreation(recoveryShape, body)
  if (!parsed.ok) return parsed
  const given = parsed.value as {
    readonly since: string
    readonly until: string | null
    readonly includeBeforeCreation: boolean
    readonly includeSucceeded: boolean
  }
  const since = Date.parse(given.since)
  const until = given.until === null ? latest : Date.parse(given.until)
  const wrong = (pointer: string, detail: string) =>
    fail(validationFailed([{ pointer, code: 'invalid_value', detail }]))
  const earliest = now - retention
  if (since < earliest) {
    return wrong(
      '/since',
      `must not be before ${formatTimestamp(earliest)}, which is how far the delivery log goes back now; what is older has to come from a sync`,
    )
  }
  if (since > latest) return wrong('/since', `must not be in the future; it is ${formatTimestamp(now)}`)
  if (until > latest) {
    return wrong('/until', `must not be in the future; it is ${formatTimestamp(now)}, which is the default`)
  }
  if (until < since) return wrong('/until', `must not be before since, ${formatTimestamp(since)}`)
  const from = given.includeBeforeCreation ? since : Math.max(since, Math.min(registeredAt, latest))
  if (until < from) {
    return wrong(
      '/until',
      `must not be before ${formatTimestamp(from)}, when the endpoint was registered, unless includeBeforeCreation is true`,
    )
  }
  return ok({ since: from, until, includeSucceeded: given.includeSucceeded })
}

export type RecoveryStore = ReturnType<typeof createRecoveryStore>

/** Of an endpoint. */
const recoveries = `from delivery_jobs r where r.organization_id = $1 and r.webhook_id = $2 and r.kind = 'recovery'`

const columns =
  'r.id, r.webhook_id, r.since, r.until, r.include_succeeded, r.retried, r.created, r.created_at, r.finished_at'

export function createRecoveryStore(database: Pick<Database, 'of'>, callUnderClock: CallUnderClock) {
  return {
    /** The latest stamp of the organization, in milliseconds: none of its events is later. */
    async latest(organizationId: string): Promise<number> {
      const { rows } = await database
        .of(organizationId)
        .query<{ last_stamp: Date }>('select c.last_stamp from clocks c where c.organization_id = $1', [
          organizationId,
        ])
      return rows[0]?.last_stamp.getTime() ?? 0
    },

    begin: (
      organizationId: string,
      { webhookId, id, since, until, includeSucceeded }: Window & { webhookId: string; id: string },
      { now, response }: { now: number; response: EncodedResponse },
    ) =>
      callUnderClock<'done' | 'refused' | 'replayed'>(beginRecoveryFunction, [
        organizationId,
        webhookId,
        formatTimestamp(now),
        id,
        formatTimestamp(since),
        formatTimestamp(until),
        includeSucceeded,
        response,
      ]),

    async read(organizationId: string, webhookId: string, id: string) {
      const { rows } = await database
        .of(organizationId)
        .query<RecoveryRow>(`select ${columns} ${recoveries} and r.id = $3`, [organizationId, webhookId, id])
      return rows[0] ?? null
    },

    async list(
      organizationId: string,
      webhookId: string,
      { limit, offset }: { limit: number; offset: number },
    ) {
      const counted = database
        .of(organizationId)
        .query<{ total: number }>(`select count(*)::int as total ${recoveries}`, [organizationId, webhookId])
      const read = database.of(organizationId).query<RecoveryRow>(
        `select ${columns} ${recoveries}
           order by r.created_at desc, r.id desc limit $3 offset $4`,
        [organizationId, webhookId, limit, offset],
      )
      const [{ rows }, count] = await Promise.all([read, counted])
      return { rows, total: count.rows[0]?.total ?? 0 }
    },
  }
}

export const beginRecoveryFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './recover-webhook.sql'),
  [lockClockFunction, replayedFunction, storeResponseFunction],
)
