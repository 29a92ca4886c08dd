/** SQL that creates deliveries outside of commits. */
import type { StreamTable } from '../journal/stream-table.ts'
import { registrantHas } from '../webhooks/table/endpoints.ts'

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
          from (select x.body::jsonb as body, x.changed from events_with_body x where x.organization_id = p_organization_id
            and x.id = ${eventId} and x.body is not null
            and ${registrantHas(webhookId, `case x.subject_kind ${scopes} when 'endpoint' then 'webhooks:read' end`)}) b), true) end`
}
