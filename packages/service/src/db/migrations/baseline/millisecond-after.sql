-- Immutable, unlike a sum with an interval, so a sharding layer accepts it in an update (decision 65).
create function millisecond_after(p_at timestamptz) returns timestamptz
language sql immutable parallel safe
return p_at + interval '1 millisecond';
