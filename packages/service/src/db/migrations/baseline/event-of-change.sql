-- The id of an event of the same change as that with the id `p_event_id`: of the first, or of another of at most 16.
create function event_of_change(p_event_id uuid, p_place integer) returns uuid
language sql immutable parallel safe return
  (left(p_event_id::text, 35) || to_hex(p_place - 1))::uuid;
