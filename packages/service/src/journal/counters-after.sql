-- The counters of each kind of which rows were written, as they are afterwards. The planner puts it in place. The
-- latest row of a kind is found by the key, the one index with that order.
create function counters_after(p_organization_id uuid, p_written written_row[]) returns table (
  kind text, live_count bigint, removed_count bigint, stored_bytes bigint, last_number bigint, digest numeric,
  content_digest numeric
) language sql stable as $function$
  select w.kind, coalesce(c.live_count, 0) + w.rows, coalesce(c.removed_count, 0) + w.removed,
      coalesce(c.stored_bytes, 0) + w.bytes, greatest(c.last_number, w.number),
      coalesce(c.digest, 0) + w.term, coalesce(c.content_digest, 0) + w.content
    from (
      select u.kind, sum(u.rows) as rows, count(*) filter (where u.rows < 0) as removed, sum(u.bytes) as bytes,
          coalesce(max(u.number), 0) as number, sum(u.term) as term, sum(u.content) as content
        from unnest(p_written) u group by u.kind) w
    left join lateral (
      select k.live_count, k.removed_count, k.stored_bytes, k.last_number, k.digest, k.content_digest from commits k
        where k.organization_id = p_organization_id and k.kind between w.kind and w.kind
        order by k.kind desc, k.stamp desc limit 1) c on true
$function$;
