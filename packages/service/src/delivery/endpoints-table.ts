/**
 * All SQL of the table `webhooks`, as `w`. Parts of functions use their arguments `p_organization_id`, `p_webhook_id`
 * and `p_now`.
 */

type Status = 'active' | 'paused' | 'disabled'

/**
 * The state of an endpoint `w` with the health `h` that is still to be reported, or null. One that was reported less
 * than `again` ago is not yet reported as failing, so that an endpoint that alternates stays quiet; one that fails
 * since `soon` is disabled soon.
 */
export const stateToReport = (again: string, soon: string) => `case
      when w.status = 'disabled' then case when w.reported_state is distinct from 'disabled' then 'disabled' end
      when w.options ? 'paused' then null
      when h.failing_since is null then case when w.reported_state is not null and h.last_success_at >= w.reported_since then 'recovered' end
      when w.reported_state is null or w.reported_state = 'disabled'
        then case when coalesce(w.reported_since <= ${again}, true) then 'failing' end
      when h.failing_since <= ${soon} and (w.reported_state = 'failing' or w.reported_since <> h.failing_since) then 'disabling_soon' end`

/** Endpoints with a state to report: those reported as another than most have, and failing ones, each by its index. */
export const endpointsToReport = (again: string, soon: string) =>
  [
    "w.reported_state is distinct from case when w.status = 'disabled' then 'disabled' end",
    "h.failing_since is not null and w.status = 'active' and w.reported_state is null",
  ]
    .map(
      (found) => `select w.organization_id, w.id from webhooks w
      join webhook_health h on h.organization_id = w.organization_id and h.webhook_id = w.id
      where ${found} and ${stateToReport(again, soon)} is not null`,
    )
    .join(' union all ')

/**
 * The body of an event `e` about an endpoint, which is the endpoint as it then was; null once that is gone, and of
 * other events.
 */
export const endpointBody = `case when e.subject_kind = 'endpoint' and exists (select 1 from webhooks s
        where s.organization_id = e.organization_id and s.id = e.subject_id) then e.body end`

/* Statements, and parts of them. */

export const joinEndpoint = (organizationId: string, id: string) =>
  `join webhooks w on w.organization_id = ${organizationId} and w.id = ${id}`

/** The columns of records in the API, and the beginning of a condition: of organization `$1` at the time `$2`. */
export const shownColumns = `w.id, w.url, w.description, w.events, w.signatures, w.options, w.status, w.disabled_reason, w.disabled_at, w.gap_since, w.gap_until, h.failing_since,
  h.failure_count, greatest(h.last_success_at, (select s.succeeded_at from delivery_stats s where s.organization_id = $1
    and s.webhook_id = w.id and s.minutes = 0 and s.succeeded_at is not null order by s.at desc limit 1)) as last_success_at, w.api_key_id, w.console_link_id, w.ends_at, w.created_at, w.updated_at,
  (select max(s.expires_at) from webhook_secrets s where s.organization_id = $1 and s.webhook_id = w.id
    and s.expires_at > $2) as previous_secret_expires_at`
export const fromShown = `from webhooks w join webhook_health h on h.organization_id = $1 and h.webhook_id = w.id
  where w.organization_id = $1`

/** The status in the API, which `statusOf` (`endpoint/webhook.ts`) says of a row. */
export const shownStatus = `case when w.status = 'active' and w.options ? 'paused' then 'paused' else w.status end`

/** A condition of the same statements. */
export const hasNotEnded = '(w.ends_at is null or w.ends_at > $2)'

/** Endpoints of all organizations but those of `unless` that have ended at `$1`. */
export const endedEndpoints = (
  ...unless: readonly string[]
) => `select w.organization_id, w.id from webhooks w
  where w.ends_at <= $1${unless.map((some) => ` and w.organization_id <> all(${some})`).join('')} order by w.ends_at`

/** Paused endpoints of all organizations but those of `unless` with deliveries pending from before `$1`. */
export const pausedEndpoints = (
  ...unless: readonly string[]
) => `select w.organization_id, w.id from webhooks w
  where w.status = 'active' and w.options ? 'paused'${unless.map((some) => ` and w.organization_id <> all(${some})`).join('')}
    and exists (select 1 from deliveries d where d.organization_id = w.organization_id and d.webhook_id = w.id
      and d.log_day = 'infinity' and d.id < first_uuid_v7($1))`

export const countOfStatus = (status: Status) =>
  `(select count(*)::int from webhooks w where ${shownStatus} = '${status}')`

/** Active endpoints of all organizations: failing ones first, longest first; then the newest. */
export const activeByFailure = `select w.id, w.url from webhooks w
       join webhook_health h on h.organization_id = w.organization_id and h.webhook_id = w.id
       where w.status = 'active' order by h.failing_since nulls last, w.created_at desc limit 1000`

export const endpointById = 'select w.id, w.url from webhooks w where w.id = $1'

export const lockEndpointsOf =
  'select 1 from webhooks w where w.organization_id = $1 order by w.id for update'
export const deleteEndpointsOf = 'delete from webhooks where organization_id = $1'
