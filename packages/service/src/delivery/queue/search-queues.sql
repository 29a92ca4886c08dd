-- Queues that are due and that this worker holds or nobody does: up to so many of each priority that is asked for,
-- those that have waited longest first. The limits are part of the text: given as parameters, PostgreSQL would plan
-- the statement again each time.
--
-- $1 now, $2 worker, $3 to $5 whether queues that are responsive, unproven and unresponsive are asked for
(select q.organization_id, q.webhook_id, q.priority from endpoint_queues q
  where $3::boolean and q.priority = 0 and q.due_at <= $1
    and (q.lease_until is null or q.lease_until <= $1 or q.worker_id = $2)
  order by q.due_at limit __responsive__)
union all
(select q.organization_id, q.webhook_id, q.priority from endpoint_queues q
  where $4::boolean and q.priority = 1 and q.due_at <= $1
    and (q.lease_until is null or q.lease_until <= $1 or q.worker_id = $2)
  order by q.due_at limit __unproven__)
union all
(select q.organization_id, q.webhook_id, q.priority from endpoint_queues q
  where $5::boolean and q.priority = 2 and q.due_at <= $1
    and (q.lease_until is null or q.lease_until <= $1 or q.worker_id = $2)
  order by q.due_at limit __unresponsive__)
