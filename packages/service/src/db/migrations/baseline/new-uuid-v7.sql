-- A new UUIDv7 of the time p_at: its milliseconds, then random bits.
create function new_uuid_v7(p_at timestamptz) returns uuid
language sql volatile parallel safe
return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3) from 1 for 6),
  52, 1), 53, 1), 'hex')::uuid;
