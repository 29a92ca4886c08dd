-- Notes that only this delivery is being sent from now on; changes nothing when the lease is lost.
--
-- $1 organization, $2 endpoint, $3 lease, $4 delivery, $5 now
update endpoint_queues set alone_id = $4, alone_since = $5 where organization_id = $1 and webhook_id = $2
  and lease_id = $3
