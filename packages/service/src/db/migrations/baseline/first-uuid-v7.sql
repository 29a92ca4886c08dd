-- The least UUIDv7 of the millisecond of p_at.
create function first_uuid_v7(p_at timestamptz) returns uuid
language sql immutable parallel safe
return (lpad(to_hex(floor(extract(epoch from p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;
