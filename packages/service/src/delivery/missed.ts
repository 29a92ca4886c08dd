/** Where a recovery of all missed events must begin (specification 11.4): perhaps before the first missed event, never after it. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { readEndpoint } from '../webhooks/table/endpoints.ts'
import { controlTypes, finalStatuses } from './control.ts'
import { firstIdSince, rowIs } from './log-rows.ts'

/** Failed deliveries that are checked: those of a large commit are created late, though their events are older. */
const failuresLookedAt = 100

/** SQL: the row `d` is a failed delivery to the endpoint, by its index. */
const failed = `d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and ${rowIs.completed('p_log_begin')}
        and ${rowIs.indexedByStatus}
        and d.event_type not in (${controlTypes})
        and (w.subscription_id is null or coalesce(d.response_status, 0) not in (${finalStatuses.join(', ')}))`
const between = (first: string, last: string) =>
  `(d.status, d.id) >= ('failed', ${first}) and (d.status, d.id) <= ('failed', ${last})`

/**
 * The earliest of: the events of the oldest failed deliveries; the windows of recoveries whose deliveries (younger than their events)
 * failed; and the time at which the endpoint was disabled, less a minute, as clocks differ. Not earlier than the endpoint, or than what a
 * recovery requested within a minute may begin at.
 */
export const missedFunction: SchemaFunction = schemaFunction(
  'missed_since',
  {
    arguments: 'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_log_begin timestamptz',
    returns: 'timestamptz',
    settings: { plan_cache_mode: 'force_generic_plan', enable_sort: 'off' },
  },
  `declare
  v_created_at timestamptz;
  v_since timestamptz;
begin
  ${readEndpoint(
    `w.created_at, least(
      (select min(f.event_created_at) from (select d.event_created_at from deliveries d
        where ${failed} and ${between(firstIdSince('p_log_begin'), "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid")}
        order by d.status, d.id limit ${failuresLookedAt}) f),
      (select min(r.since) from recoveries r
        where r.organization_id = p_organization_id and r.webhook_id = p_webhook_id and r.created > 0
          and exists (select 1 from deliveries d where ${failed}
            and ${between("first_uuid_v7(r.created_at - interval '1 minute')", "first_uuid_v7(coalesce(r.finished_at, p_now) + interval '1 minute')")})),
      case when w.disabled_at is not null or w.gap_until >= p_log_begin
        then least(w.gap_since, w.disabled_at) - interval '1 minute' end)`,
    'v_created_at, v_since',
  )}
  return case when v_since is not null then greatest(v_since, v_created_at, p_log_begin + interval '1 minute') end;
end;`,
)
