-- A row's term of the checkpoint: the first eight bytes of SHA-256 as a signed number. Sums are modulo 2^64, where
-- signs do not matter.
create function digest_term(p_id uuid, p_updated_at text) returns numeric
language sql immutable parallel safe
return ('x' || left(encode(sha256(convert_to(p_id::text || ':' || p_updated_at, 'UTF8')), 'hex'), 16))
  ::bit(64)::bigint::numeric;
