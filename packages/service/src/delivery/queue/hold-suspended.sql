-- Hides a queue from searches while its organization is suspended or served elsewhere. A resumption makes it due
-- again. It locks the organization's row, so that a resumption comes wholly before or wholly after this.
--
-- $1 organization, $2 endpoint
with suspended as (
  select o.organization_id from organizations o
    where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null) for share
)
update endpoint_queues set due_at = null
  where organization_id = $1 and webhook_id = $2 and lease_id is null and exists (select 1 from suspended)
