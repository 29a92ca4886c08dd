/**
 * Reports endpoints that begin to fail, are about to be disabled, are disabled, or recover, as events (specification
 * 9.7). Nothing that changes an endpoint takes part: a search compares its state with the one that was reported last,
 * and one transaction writes the event, its deliveries and the reported state. So a state is reported once, whatever
 * dies, and one that has passed before a search is not.
 */
import { callFunction, unlessBusy } from '../../db/call-function.ts'
import type { Database } from '../../db/fair-pool.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../../db/sql-file.ts'
import { lockClockFunction, recordEventFunction } from '../../journal/functions.ts'
import { streamChannel } from '../../journal/notifier.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { type JobLoop, jobLoop } from '../../kernel/job-loop.ts'
import { loggable } from '../../kernel/log.ts'
import { createKeyedQueue } from '../../kernel/shared-work.ts'
import { formatTimestamp } from '../../kernel/timestamps.ts'
import { endpointsToReport, fromShown, shownColumns, stateToReport } from '../endpoints-table.ts'
import { attemptsOf, type DeliverySchedule, type JobServices } from '../model.ts'
import {
  eventPatternsFunction,
  insertDeliveriesFunction,
  missedFunction,
  newDeliveryType,
  skipReasonFunction,
  wakeQueuesFunction,
} from '../queue/functions.ts'
import { suspendedOrganizations } from '../queue/sweep.ts'
import { deliveryTuning } from '../tuning.ts'
import { type WebhookRow, webhookRecord } from './webhook.ts'

const { failingAgainAfter, disablingSoonAt, ...limits } = deliveryTuning.reports

/** Each state, with where a row says since when the endpoint is in it. */
const beginnings = {
  failing: 'failing_since',
  disabling_soon: 'failing_since',
  disabled: 'disabled_at',
  recovered: 'last_success_at',
} as const satisfies Readonly<Record<string, keyof WebhookRow>>

type State = keyof typeof beginnings

export const reportFunction = (tables: readonly StreamTable[]): SchemaFunction =>
  schemaObject(fillTemplate(readSql(import.meta.url, './report-endpoint.sql'), { channel: streamChannel }), [
    lockClockFunction,
    recordEventFunction,
    newDeliveryType,
    insertDeliveriesFunction,
    skipReasonFunction(tables),
    wakeQueuesFunction,
    eventPatternsFunction,
  ])

interface ReportServices extends JobServices {
  readonly database: Database
  readonly tables: readonly StreamTable[]
  readonly schedule: DeliverySchedule
  /** How far back the log goes, in milliseconds. */
  readonly retention: number
}

export function createReports(services: ReportServices): JobLoop {
  const { database, clock, schedule, retention, log, onDeliveries } = services
  const { exclusiveTasks = createKeyedQueue() } = services
  const { disableAfter } = schedule
  const report = reportFunction(services.tables)
  const timesAt = (now: number) =>
    [now - failingAgainAfter, now - disablingSoonAt * disableAfter].map(formatTimestamp)
  const read = `select ${shownColumns}, w.reported_state as before, ${stateToReport('$4', '$5')} as state,
      ${missedFunction.name}($1, w.id, $2, $2::timestamptz - interval '${retention} milliseconds') as missed_since
    ${fromShown} and w.id = $3`
  return jobLoop<{ readonly organizationId: string; readonly webhookId: string }>({
    ...limits,
    async findDue(limit, except) {
      const { rows } = await database.forSeveral.query<{ organization_id: string; id: string }>({
        name: 'find_endpoints_to_report',
        text: `select x.organization_id, x.id from (${endpointsToReport('$1', '$2')}) x
                 where x.organization_id <> all(${suspendedOrganizations}) and x.organization_id <> all($3) limit $4`,
        values: [...timesAt(clock.now()), except, limit],
      })
      return rows.map((row) => ({ organizationId: row.organization_id, webhookId: row.id }))
    },
    async run({ organizationId, webhookId }) {
      const now = clock.now()
      const { rows } = await database
        .of(organizationId)
        .query<WebhookRow & { readonly before: string | null; readonly state: State | null }>(read, [
          organizationId,
          formatTimestamp(now),
          webhookId,
          ...timesAt(now),
        ])
      const [row] = rows
      const { before = null, state = null } = row ?? {}
      if (row === undefined || state === null) return 'done'
      const reported = await exclusiveTasks.run(organizationId, () =>
        unlessBusy(
          callFunction<boolean>(database.of(organizationId), report, [
            organizationId,
            webhookId,
            formatTimestamp(now),
            row.updated_at,
            before,
            state === 'recovered' ? null : state,
            row[beginnings[state]],
            `endpoint.${state}`,
            JSON.stringify(webhookRecord(organizationId, row, disableAfter)),
            attemptsOf(schedule),
          ]),
        ),
      )
      if (reported === true) onDeliveries()
      return reported === 'busy' ? reported : 'done'
    },
    onFailure(error, job) {
      log.warn({ ...job, err: loggable(error) }, 'could not report the state of an endpoint; trying again')
    },
  })
}
