-- Leases a queue, or keeps the lease: the first of the three statements of a claim. Returns no row when another
-- worker holds the queue, or nothing is due on it.
--
-- A lease that is held and has half of its time left is not written: the row would get a version with each claim. A
-- lease that ran out counts as lost; a released one is no longer in the row. One of this worker is of a drain that
-- has ended, as it runs one at a time: its release failed, or a crash of the database undid it.
--
-- $1 organization, $2 endpoint, $3 now, $4 lease, $5 until when, $6 worker, $7 a lease until then or later is kept as
-- it is
with held as (
  select q.alone_left, q.alone_id, q.alone_since, q.rewinds, q.lease_until
    from endpoint_queues q
    where q.organization_id = $1 and q.webhook_id = $2 and q.lease_id = $4 and q.lease_until >= $7
      and q.due_at = q.lease_until
), leased as (
  update endpoint_queues q set lease_id = $4, lease_until = $5, worker_id = $6, due_at = $5,
      lost_leases = case when q.lease_id <> $4 and q.worker_id <> $6 then least(q.lost_leases + 1, __lost_in_a_row__)
        else q.lost_leases end,
      alone_left = case when q.lease_id <> $4 and q.worker_id <> $6 and q.lost_leases >= __lost_in_a_row__ - 1
        then __sent_alone__
        else q.alone_left end
    where q.organization_id = $1 and q.webhook_id = $2 and not exists (select 1 from held)
      and (q.lease_id = $4 or q.worker_id = $6 or q.due_at <= $3 and (q.lease_until is null or q.lease_until <= $3))
    returning q.alone_left, q.alone_id, q.alone_since, q.rewinds, q.lease_until
)
select c.alone_left, c.alone_id, floor(extract(epoch from c.alone_since) * 1000)::bigint as alone_since, c.rewinds,
    floor(extract(epoch from c.lease_until) * 1000)::bigint as lease_until
  from (select h.alone_left, h.alone_id, h.alone_since, h.rewinds, h.lease_until from held h
    union all select l.alone_left, l.alone_id, l.alone_since, l.rewinds, l.lease_until from leased l) c
