-- Adds bytes of stored responses to the organization's counters, outside of a commit but under the clock row. The clock
-- stays: no reader of the stream is to see more than before.
create function count_responses(p_organization_id uuid, p_bytes bigint) returns void
language plpgsql volatile as $function$
begin
  insert into commits (organization_id, stamp, kind, live_count, removed_count, stored_bytes, last_number, digest,
      content_digest)
    select p_organization_id, o.last_stamp, a.kind, a.live_count,
        a.removed_count, a.stored_bytes, a.last_number, a.digest, a.content_digest
      from clocks o cross join counters_after(p_organization_id, array[row('stored response', null, null, null, null,
        null, null, null, 0, p_bytes, 0, 0, 0)::written_row]) a
      where o.organization_id = p_organization_id
    on conflict (organization_id, kind, stamp) do update set stored_bytes = excluded.stored_bytes;
end;
$function$;
