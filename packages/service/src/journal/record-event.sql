-- Writes an event that no commit makes, and returns its id and stamp. The caller holds the clock row (`lock_clock`).
-- Events are read in order by cursor, so none may be lost after it was read. No commit has this stamp: the clock row
-- keeps it.
create function record_event(
  p_organization_id uuid, p_now timestamptz, p_type text, p_subject_kind text, p_subject_id uuid, p_body text,
  out p_event_id uuid, out p_stamp timestamptz
)
language plpgsql volatile as $function$
begin
  perform set_config('synchronous_commit', 'on', true);
  select greatest(c.last_stamp + interval '1 millisecond', p_now) into p_stamp
    from clocks c where c.organization_id = p_organization_id;
  p_event_id := new_uuid_v7(p_stamp);
  insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
    values (p_organization_id, p_event_id, p_type, p_stamp, p_subject_kind, p_subject_id, p_body);
  update organization_clocks set last_stamp = p_stamp where organization_id = p_organization_id;
end;
$function$;
