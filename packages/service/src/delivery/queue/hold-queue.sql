-- Hides a queue from searches and commits while its endpoint is paused, or its organization suspended or served
-- elsewhere. A resumption makes it due again. It locks the row that says so, so that a resumption comes wholly before
-- or wholly after this.
--
-- $1 organization, $2 endpoint
with suspended as (
  select o.organization_id from organizations o
    where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null) for share
), paused as (
  select w.id from webhooks w
    where w.organization_id = $1 and w.id = $2 and w.status = 'active' and w.options ? 'paused' for share
)
update endpoint_queues set due_at = 'infinity'
  where organization_id = $1 and webhook_id = $2 and lease_id is null
    and (exists (select 1 from suspended) or exists (select 1 from paused))
