-- The latest p_limit rows of an endpoint's log with these filters, by id and day, in no order. A status is one of the
-- table's, or 'undelivered': pending or failed. Completed deliveries have ids from p_from on and days from p_day on,
-- pending ones ids from p_pending_from on; all have ids up to p_to.
--
-- Each part reads a range of one index. Columns are compared as a row and are part of the order, so that only this
-- index fits: with `=` for each, a planner that expects few rows may choose another. The index by type separates
-- completed deliveries by status. What succeeded, and what is pending, has no index of its own: these rows are found
-- in the order of their ids, among the others of the endpoint. A part that the filters exclude is not begun.
--
-- The planner inlines it into the statements of read_log and count_log.
create function log_of_endpoint(
  p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_pending_from uuid, p_from uuid,
  p_day date, p_to uuid, p_limit bigint
) returns table (id uuid, log_day date)
language sql stable as $function$
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
        and d.id >= p_pending_from and d.id <= p_to
      order by d.id desc limit p_limit) f
    where p_event_type is null and (p_status is null or p_status in ('pending', 'undelivered'))
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day = 'infinity'
        and d.event_type = p_event_type
        and d.id >= p_pending_from and d.id <= p_to
      order by d.id desc limit p_limit) f
    where p_event_type is not null and (p_status is null or p_status in ('pending', 'undelivered'))
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity'
        and d.id >= p_from and d.id <= p_to
      order by d.id desc limit p_limit) f
    where p_event_type is null and p_status is null
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity' and d.status = 'succeeded'
        and d.id >= p_from and d.id <= p_to
      order by d.id desc limit p_limit) f
    where p_event_type is null and p_status = 'succeeded'
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
        and (d.status, d.id) >= ('failed', p_from) and (d.status, d.id) <= ('failed', p_to)
      order by d.status desc, d.id desc limit p_limit) f
    where p_event_type is null and p_status in ('failed', 'undelivered')
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity' and d.status in ('failed', 'skipped')
        and (d.status, d.id) >= ('skipped', p_from) and (d.status, d.id) <= ('skipped', p_to)
      order by d.status desc, d.id desc limit p_limit) f
    where p_event_type is null and p_status = 'skipped'
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity'
        and (d.event_type, d.status, d.id) >= (p_event_type, 'succeeded', p_from)
        and (d.event_type, d.status, d.id) <= (p_event_type, 'succeeded', p_to)
      order by d.event_type desc, d.status desc, d.id desc limit p_limit) f
    where p_event_type is not null and (p_status is null or p_status = 'succeeded')
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity'
        and (d.event_type, d.status, d.id) >= (p_event_type, 'failed', p_from)
        and (d.event_type, d.status, d.id) <= (p_event_type, 'failed', p_to)
      order by d.event_type desc, d.status desc, d.id desc limit p_limit) f
    where p_event_type is not null and (p_status is null or p_status in ('failed', 'undelivered'))
  union all
  select f.id, f.log_day from (
    select d.id, d.log_day from deliveries d
      where d.organization_id = p_organization_id and d.webhook_id = p_webhook_id and d.log_day >= p_day
        and d.log_day < 'infinity'
        and (d.event_type, d.status, d.id) >= (p_event_type, 'skipped', p_from)
        and (d.event_type, d.status, d.id) <= (p_event_type, 'skipped', p_to)
      order by d.event_type desc, d.status desc, d.id desc limit p_limit) f
    where p_event_type is not null and (p_status is null or p_status = 'skipped')
$function$;
