-- Releases a queue of a worker that no longer runs, which counts as a lost lease. After the third in a row,
-- deliveries are sent one at a time.
--
-- $1 organization, $2 endpoint, $3 worker, $4 now
update endpoint_queues q set lease_id = null, lease_until = null, worker_id = null, due_at = $4,
    lost_leases = least(q.lost_leases + 1, __lost_in_a_row__),
    alone_left = case when q.lost_leases >= __lost_in_a_row__ - 1 then __sent_alone__ else q.alone_left end
  where q.organization_id = $1 and q.webhook_id = $2 and q.worker_id = $3
