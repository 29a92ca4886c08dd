-- The due deliveries of a queue that this lease holds, from where it has read to, with the current representations:
-- the second statement of a claim. A removed subject's representation is its removal record. Returns none when the
-- lease is lost.
--
-- Where the queue has been rewound since this lease read `$6`, it begins where every reader must. A first attempt is
-- due when its commit is there, even if the clock that stamped it is a little ahead. The limit is part of the text:
-- given as a parameter, PostgreSQL would plan the statement again each time.
--
-- $1 organization, $2 endpoint, $3 now, $4 lease, $5 deliveries that it has, $6 rewinds, $7 and $8 read to there, $9
-- first attempts
with position as materialized (
  select case when q.rewinds = $6 then $7::timestamptz else coalesce(q.read_to, '-infinity') end as at,
      case when q.rewinds = $6 then $8::uuid else '00000000-0000-0000-0000-000000000000' end as id
    from endpoint_queues q where q.organization_id = $1 and q.webhook_id = $2 and q.lease_id = $4
)
select d.id, d.attempt_count, d.attempts_before, d.max_attempts,
    case when d.last_error_code = 'worker_lost' then true end as lost_worker,
    floor(extract(epoch from d.next_attempt_at) * 1000)::bigint as due_at,
    floor(extract(epoch from d.updated_at) * 1000)::bigint as updated_at, d.event_id, d.event_type,
    to_char(d.event_created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as event_created_at,
      d.subject_kind, d.payload,
    case d.subject_kind
      -- each kind
      when '__kind__' then
        (select t.body from __table__ t where t.organization_id = $1 and t.id = d.subject_id
          and (t.removed_at is null) = (d.event_type <> '__removed_event__'))
      -- end kind
    end as current
    -- each traced
    , (select e.trace_context from events e where e.organization_id = $1 and e.id = d.event_id) as trace_context
    -- end traced
  from deliveries d
  where d.organization_id = $1 and d.webhook_id = $2 and d.log_day = 'infinity'
    and (d.next_attempt_at, d.id) >= ((select p.at from position p), (select p.id from position p))
    and d.next_attempt_at <= $9
    and (d.next_attempt_at <= $3 or d.attempt_count = 0 and d.next_attempt_at <= d.created_at)
    and d.id <> all($5::uuid[])
  order by d.next_attempt_at, d.id limit __limit__
