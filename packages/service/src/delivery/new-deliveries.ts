/** SQL that creates deliveries: the one insert of them, and what the commit function does for a commit's events. */
import { largeBeyond } from '../admission/large-work.ts'
import type { StreamTable } from '../journal/stream-table.ts'
import {
  countForSubscribers,
  findSubscribers,
  fromSubscribers,
  fromSubscribersWith,
  fromSubscriptions,
  ownKey,
  registrantHas,
} from '../webhooks/table/endpoints.ts'
import type { ControlType } from './control.ts'

/** Deliveries to endpoints, pending and due at `p_now`; the values are SQL expressions. */
export function insertDeliveries(values: {
  readonly id?: string
  readonly webhookId: string
  /** The alias of a row with the event's id, type, created_at, subject_kind and subject_id. */
  readonly event: string
  readonly attempts: string
  readonly from: string
  /** SQL that is null while the endpoint is active, else why it is disabled: the delivery then has failed. */
  readonly disabledReason?: string
  /** SQL that says whether the endpoint's conditions hold: if not, the delivery is skipped. */
  readonly holds?: string
  /** SQL that says whether the endpoint skips the event as its own key's; may be null. */
  readonly isOwn?: string
}): string {
  const {
    id = 'new_uuid_v7(p_now)',
    webhookId,
    event: e,
    attempts,
    from,
    disabledReason,
    holds,
    isOwn,
  } = values
  const ended = [
    disabledReason !== undefined && {
      when: `${disabledReason} is not null`,
      status: 'failed',
      code: 'endpoint_disabled',
      message: `'the endpoint was disabled: ' || ${disabledReason}`,
    },
    isOwn !== undefined && {
      when: isOwn,
      status: 'skipped',
      code: 'own_change',
      message: "'the key of the endpoint caused it'",
    },
    holds !== undefined && {
      when: `not ${holds}`,
      status: 'skipped',
      code: 'conditions_not_met',
      message: "'the conditions of the endpoint did not hold'",
    },
  ].filter((one) => one !== false)
  const either = (then: (one: (typeof ended)[number]) => string, pending: string) => {
    const cases = ended.map((one) => `when ${one.when} then ${then(one)}`)
    return cases.length === 0 ? pending : `case ${cases.join(' ')} else ${pending} end`
  }
  const day = either(() => "(p_now at time zone 'UTC')::date", "'infinity'")
  const status = either((one) => `'${one.status}'`, "'pending'")
  const code = either((one) => `'${one.code}'`, 'null')
  const message = either((one) => one.message, 'null')
  const due = either(() => 'null', 'p_now')
  return `insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
        subject_id, status, payload, attempt_count, max_attempts, last_error_code, last_error_message, next_attempt_at, created_at, updated_at)
      select p_organization_id, ${id}, ${webhookId}, ${day}, ${e}.id, ${e}.type, ${e}.created_at, ${e}.subject_kind,
          ${e}.subject_id, ${status}, 'current', 0, ${attempts}, ${code}, ${message}, ${due}, p_now, p_now
        ${from};`
}

/** SQL. Creates a control event and its delivery for each subscription `w`. */
export function insertControl(
  type: Exclude<ControlType, 'ping'>,
  { among, attempts }: { readonly among: string; readonly attempts: string },
): string {
  return `with created as (
      insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
        select p_organization_id, new_uuid_v7(p_now), '${type}', p_now, 'webhook', w.id, '{}' ${fromSubscriptions(among)}
        returning id, type, created_at, subject_kind, subject_id)
    ${insertDeliveries({ webhookId: 'e.subject_id', event: 'e', attempts, from: 'from created e' })}`
}

/**
 * SQL: whether these conditions, jsonb or null, hold of the event with this id; without conditions no event is read. All but those on the
 * id always hold of a removal, so that receivers do not keep what is gone, of an event about an endpoint, and of a body that was erased. Of an event that lists no changes,
 * as a creation, every field with a value counts as changed. They hold of an object that the registrant of the endpoint (`webhookId`) may
 * not read, whose delivery fails: the log would show that key which values the object has.
 */
export function conditionsHold(
  tables: readonly StreamTable[],
  conditions: string,
  webhookId: string,
  eventId: string,
): string {
  const scopes = tables.map(({ kind, name }) => `when '${kind}' then '${name}:read'`).join(' ')
  const actual = "coalesce(b.body->(k.k->>'field'), 'null')"
  return `case when ${conditions} is null then true else coalesce((
          select not exists (select 1 from jsonb_array_elements(${conditions}) as k(k)
            where (b.body->>'object' not in ('removed', 'webhook') or k.k->>'field' = 'id') and not case k.k->>'op'
              when 'exists' then (${actual} <> 'null') = coalesce((k.k->>'value')::boolean, true)
              when 'changed' then coalesce(b.changed ? (k.k->>'field'), ${actual} <> 'null')
              when 'in' then k.k->'value' @> ${actual}
              else ${actual} = k.k->'value' end)
          from (select x.body::jsonb as body, x.changed from events x where x.organization_id = p_organization_id
            and x.id = ${eventId} and x.body is not null
            and ${registrantHas(webhookId, `case x.subject_kind ${scopes} when 'endpoint' then 'webhooks:read' end`)}) b), true) end`
}

const ofCommit = { webhookId: 'w.id', event: 'e', attempts: "(p_changes->>'max_attempts')::int" }
const events = `(select u.id, u.type, v_stamp as created_at, u.subject_kind, u.subject_id
            from unnest(v_events, v_event_types, v_event_kinds, v_event_subjects) as u(id, type, subject_kind, subject_id))`

/**
 * A delivery of each event of a commit to each endpoint that is active and subscribed now, under the clock row that disabling takes too.
 * Part of the commit function (`journal/commit-function.ts`): it reads `v_events` and the arrays beside it, and
 * `v_stamp`, and sets `v_webhooks`, `v_may_skip`, `v_woken` and `v_large`.
 */
export const deliverEvents = (tables: readonly StreamTable[]) => `${findSubscribers}
  -- More than ${largeBeyond.deliveries} are inserted after the commit, in pieces, from the subscriptions noted here: nothing else of the
  -- organization can commit meanwhile.
  if cardinality(v_events) > ${largeBeyond.deliveries} / cardinality(v_webhooks) then
    ${countForSubscribers(largeBeyond.deliveries)}
  end if;
  if v_large then
    insert into fan_outs (organization_id, webhook_id, stamp, types, conditions, own_key, max_attempts, position, due_at)
      select p_organization_id, w.id, v_stamp, w.events, w.options->'conditions', ${ownKey}, (p_changes->>'max_attempts')::int, first_uuid_v7(v_stamp), p_now
        ${fromSubscribers};
  elsif v_webhooks is not null then
    -- Preparing to read events costs each commit, in each of their partitions.
    if v_may_skip then
      ${insertDeliveries({
        ...ofCommit,
        from: fromSubscribersWith(
          events,
          `
        cross join lateral (select ${conditionsHold(tables, "w.options->'conditions'", 'w.id', 'e.id')} as holds,
            case when w.options ? 'skipOwn' then (select x.cause->>'key' = w.api_key_id::text from events x
              where x.organization_id = p_organization_id and x.id = e.id) end as is_own offset 0) c`,
        ),
        holds: 'c.holds',
        isOwn: 'c.is_own',
      })}
    else
      ${insertDeliveries({ ...ofCommit, from: fromSubscribersWith(events) })}
    end if;
    -- Each queue is locked as well: a worker that is about to find it empty waits, and then finds these. A worker that is busy
    -- with the queue is not notified: it looks again before it releases it.
    perform 1 from endpoint_queues l where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks)
      order by l.webhook_id for update;
    with woken as (
      update endpoint_queues l set due_at = p_now where l.organization_id = p_organization_id and l.webhook_id = any(v_webhooks)
          and (l.due_at is null or l.due_at > p_now) and (l.lease_id is null or l.listening)
        returning l.webhook_id, l.priority as priority)
      select coalesce(jsonb_object_agg(webhook_id, priority), '{}') into v_woken from woken;
  end if;`
