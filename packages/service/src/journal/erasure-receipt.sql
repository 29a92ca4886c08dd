-- The receipt of an erase, as JSON: what of each kind was removed, and the checkpoints afterwards. `p_kinds`: that of
-- the person, whose row is the first of `p_written`, and those that refer to it.
create function erasure_receipt(
  p_organization_id uuid, p_stamp timestamptz, p_kinds text[], p_written written_row[]
) returns text language plpgsql stable as $function$
begin
  return (select '{"object":"erasure","resource":"' || p_kinds[1] || '","id":"' || p_written[1].id || '","erasedAt":"'
      || timestamp_text(p_stamp) || '","removed":{'
      || string_agg('"' || k.kind || '":' || (select count(*) from unnest(p_written) w
          where w.kind = k.kind and w.rows < 0), ',' order by k.place) || '},"checkpoint":{'
      || string_agg('"' || k.kind || '":{"count":' || a.live_count || ',"digest":"' || digest_text(a.digest)
        || '","contentDigest":"' || digest_text(a.content_digest) || '"}', ',' order by k.place) || '}}'
    from unnest(p_kinds) with ordinality as k(kind, place)
    join counters_after(p_organization_id, p_written || array(
      select row(u.kind, null, null, null, null, null, null, null, 0, 0, 0, 0, 0)::written_row
        from unnest(p_kinds) u(kind))) a
      on a.kind = k.kind);
end;
$function$;
