-- What became of an organization's deliveries, by step and place (`queue/tally.ts`): of one endpoint, or of all.
--
-- Hours that are over have a row each, so long steps read those; an hour in which something is left to fold is in its
-- minutes, and what is left to fold in rows of no length.
--
-- $1 organization, $2 endpoint or null, $3 from, $4 to, $5 length of a step
with endpoints as materialized (
  select w.id, coalesce((select date_bin('1 hour', min(s.at), timestamptz '1970-01-01 00:00:00Z') from delivery_stats s
      where s.organization_id = $1 and s.webhook_id = w.id and s.minutes = 0), '-infinity') as hour
    from webhooks w where w.organization_id = $1::uuid and ($2::uuid is null or w.id = $2::uuid)
), counted as (
  select c.at, c.places, c.counts from endpoints e
    cross join lateral (select s.at, s.places, s.counts from delivery_stats s
      where s.organization_id = $1 and s.webhook_id = e.id and s.minutes = 60 and s.at >= $3::timestamptz
        and s.at < case when $5::interval >= interval '1 hour' then least($4::timestamptz, e.hour)
          else $3::timestamptz end offset 0) c
  union all
  select c.at, c.places, c.counts from endpoints e
    cross join lateral (select s.at, s.places, s.counts from delivery_stats s
      where s.organization_id = $1 and s.webhook_id = e.id and s.minutes = 1 and s.at < $4::timestamptz
        and s.at >= case when $5::interval >= interval '1 hour' then greatest($3::timestamptz, e.hour)
          else $3::timestamptz end offset 0) c
  union all
  select c.at, c.places, c.counts from endpoints e
    cross join lateral (select s.at, s.places, s.counts from delivery_stats s
      where s.organization_id = $1 and s.webhook_id = e.id and s.minutes = 0 and s.at >= $3::timestamptz
        and s.at < $4::timestamptz offset 0) c
)
select floor(extract(epoch from date_bin($5::interval, c.at,
    timestamptz '1970-01-01 00:00:00Z')) * 1000)::bigint as step, u.index, sum(u.count)
  from counted c cross join lateral unnest(c.places, c.counts) as u(index, count)
  where u.count > 0 group by 1, 2
