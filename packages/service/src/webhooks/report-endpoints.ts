/**
 * Reports endpoints that begin to fail, are about to be disabled, are disabled, or recover, as events (specification 9.7). Nothing that
 * changes an endpoint takes part: a search compares its state with the one that was reported last, and one transaction writes the event,
 * its deliveries and the reported state. So a state is reported once, whatever dies, and one that has passed before a search is not.
 */
import { callFunction, unlessBusy } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { wakeQueues } from '../delivery/endpoint-queues.ts'
import { missedFunction } from '../delivery/missed.ts'
import { attemptsOf, type DeliverySchedule, type JobServices } from '../delivery/model.ts'
import { conditionsHold, insertDeliveries } from '../delivery/new-deliveries.ts'
import { suspendedOrganizations } from '../delivery/sweep.ts'
import { deliveryTuning } from '../delivery/tuning.ts'
import { streamChannel } from '../journal/notifier.ts'
import { lockClock, recordEvent } from '../journal/sql-fragments.ts'
import { type JobLoop, jobLoop } from '../kernel/job-loop.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import {
  endpointsToReport,
  findSubscribers,
  fromShown,
  fromSubscribersWith,
  noteReported,
  shownColumns,
  stateToReport,
} from './table/endpoints.ts'
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

/** Writes an event about an endpoint, in the version and with the reported state that were read. Returns whether it did. */
export const reportFunction: SchemaFunction = schemaFunction(
  'report_endpoint',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_expected timestamptz, p_before text, p_state text, p_since timestamptz, p_type text, p_body text, p_attempts int',
    returns: 'boolean',
  },
  `declare
  v_stamp timestamptz(3);
  v_event_id uuid;
  v_event_types text[] := array[p_type];
  v_webhooks uuid[];
  v_may_skip boolean;
begin
  ${lockClock}
  ${noteReported}
  if not found then
    return false;
  end if;
  ${recordEvent("p_type, v_stamp, 'endpoint', p_webhook_id, p_body")}
  ${findSubscribers}
  v_webhooks := array(select x.id from unnest(v_webhooks) as x(id) where x.id <> p_webhook_id);
  ${insertDeliveries({
    webhookId: 'w.id',
    event: 'e',
    attempts: 'p_attempts',
    from: fromSubscribersWith(
      `(select v_event_id as id, p_type as type, v_stamp as created_at, 'endpoint' as subject_kind, p_webhook_id as subject_id)`,
      ` cross join lateral (select ${conditionsHold([], "w.options->'conditions'", 'w.id', 'e.id')} as holds offset 0) c`,
    ),
    holds: 'c.holds',
  })}
  ${wakeQueues('v_webhooks')}
  perform pg_notify('${streamChannel}', p_organization_id || ':' || p_type);
  return true;
end;`,
)

interface ReportServices extends JobServices {
  readonly database: Database
  readonly schedule: DeliverySchedule
  /** How far back the log goes, in milliseconds. */
  readonly retention: number
}

export function createReports(services: ReportServices): JobLoop {
  const { database, clock, schedule, retention, log, onDeliveries } = services
  const { exclusiveTasks = createKeyedQueue() } = services
  const { disableAfter } = schedule
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
          callFunction<boolean>(database.of(organizationId), reportFunction, [
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
