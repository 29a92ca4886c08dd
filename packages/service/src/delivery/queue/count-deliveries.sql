-- Counts deliveries of an endpoint (specification 11.5): what is counted in `p_places`, how often in `p_counts`
-- (`tally.ts`), and the latest success among them. Each call appends a row of no length, so that no row gets a
-- version with each; the rows of minutes that are over become one a minute, and the minutes of hours that are over
-- one more an hour.
--
-- The caller says from when on such rows may be left, or null where none are: only rows of a minute that is over are
-- folded, and their latest success is noted in the endpoint's health. A row that stays is counted as well as one that
-- is folded. Counts are added, so a minute that is folded again, as clocks differ or one was set back, has what it
-- had before.
create function count_deliveries(
  p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_places smallint[], p_counts int[],
  p_succeeded_at timestamptz, p_fold_from timestamptz
) returns void
language plpgsql volatile as $function$
declare
  v_minute timestamptz := date_bin('1 minute', p_now, timestamptz '1970-01-01 00:00:00Z');
  v_hour timestamptz := date_bin('1 hour', p_now, timestamptz '1970-01-01 00:00:00Z');
  v_hours timestamptz[];
  v_succeeded_at timestamptz(3);
begin
  insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts, succeeded_at)
    values (p_organization_id, p_webhook_id, 0, p_now, p_places, p_counts, p_succeeded_at)
    on conflict (organization_id, webhook_id, minutes, at) do update set places = s.places || excluded.places,
      counts = s.counts || excluded.counts, succeeded_at = greatest(s.succeeded_at, excluded.succeeded_at);
  if p_fold_from is null then
    return;
  end if;

  with gone as (
    delete from delivery_stats s where s.organization_id = p_organization_id and s.webhook_id = p_webhook_id
      and s.minutes = 0 and s.at >= p_fold_from and s.at < v_minute
      returning date_bin('1 minute', s.at, timestamptz '1970-01-01 00:00:00Z') as at, s.places, s.counts, s.succeeded_at
  ), added as (
    insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
      select p_organization_id, p_webhook_id, 1, m.at, array_agg(m.place), array_agg(m.count)
        from (select g.at, c.place, sum(c.count)::int as count from gone g
          cross join lateral unnest(g.places, g.counts) as c(place, count)
          group by g.at, c.place) m
        group by m.at
      on conflict (organization_id, webhook_id, minutes, at)
        do update set places = s.places || excluded.places, counts = s.counts || excluded.counts
      returning date_bin('1 hour', s.at, timestamptz '1970-01-01 00:00:00Z') as hour)
    select array(select distinct a.hour from added a where a.hour <> v_hour), (select max(g.succeeded_at) from gone g)
      into v_hours, v_succeeded_at;
  insert into delivery_stats as s (organization_id, webhook_id, minutes, at, places, counts)
    select p_organization_id, p_webhook_id, 60, m.hour, array_agg(m.place), array_agg(m.count)
      from (select h.hour, c.place, sum(c.count)::int as count
        from unnest(v_hours) as h(hour)
          join delivery_stats s on s.organization_id = p_organization_id and s.webhook_id = p_webhook_id
            and s.minutes = 1 and s.at >= h.hour and s.at < h.hour + interval '1 hour'
          cross join lateral unnest(s.places, s.counts) as c(place, count)
        group by h.hour, c.place) m
      group by m.hour
    on conflict (organization_id, webhook_id, minutes, at) do update set places = excluded.places,
      counts = excluded.counts;
  update webhook_health set last_success_at = v_succeeded_at
    where organization_id = p_organization_id and webhook_id = p_webhook_id
      and v_succeeded_at > coalesce(last_success_at, '-infinity');
end;
$function$;
