-- The layout of a body's bytes (body.ts) for statements: what the database appends, and how it takes a reference out
-- of a stored body. Stored bodies have it, so it never changes. All are expressions that the planner puts in place.

-- A time as the wire writes it.
create function timestamp_text(p_at timestamptz) returns text language sql stable parallel safe return
  to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The end of a body, which its commit appends: 39 characters.
create function body_tail(p_stamp timestamptz) returns text language sql stable parallel safe return
  '"updatedAt":"' || timestamp_text(p_stamp) || '"}';

-- The body of a removed row.
create function removal_record(p_kind text, p_id uuid, p_stamp timestamptz) returns text
language sql stable parallel safe return
  '{"object":"removed","id":"' || p_id || '","resource":"' || p_kind || '","removedAt":"' || timestamp_text(p_stamp)
    || '"}';

-- The body with null for the reference right before its tail, whose name need not be known: 36 characters of an id.
create function body_without_last(p_body text, p_tail text) returns text language sql stable parallel safe return
  left(p_body, -78) || 'null,' || p_tail;

-- The body with null for the reference `p_field`: the first member of this name, as no field with names of clients
-- comes before it. Quotes within texts are escaped.
create function body_without_field(p_body text, p_tail text, p_field text, p_id uuid) returns text
language sql stable parallel safe return
  left(overlay(p_body placing '"' || p_field || '":null'
    from strpos(p_body, '"' || p_field || '":') for length(p_field) + 41), -39) || p_tail;

-- The body without the member `p_member` of an object in it, where that is this id.
create function body_without_member(p_body text, p_tail text, p_member text, p_id uuid) returns text
language sql stable parallel safe return
  left(replace(p_body, ',"' || p_member || '":"' || p_id || '"', ''), -39) || p_tail;

-- A row's terms of the two digests (specification 7.8), signed: of its version, of the version that a body shows, and
-- of its bytes. Not immutable, as the conversion to bytes is not, so that they are put in place.
create function version_term(p_id uuid, p_stamp text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(p_id || ':' || p_stamp, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;

create function version_term_of(p_body text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(substr(p_body, 8, 36) || ':' || left(right(p_body, 26), 24), 'UTF8')),
    1, 8), 'hex'))::bit(64)::bigint;

create function content_term(p_body text) returns bigint language sql stable parallel safe return
  ('x' || encode(substr(sha256(convert_to(p_body, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;

-- A digest in 16 hex digits: the sum of its terms modulo 2^64.
create function digest_text(p_sum numeric) returns text language sql stable parallel safe return
  lpad(to_hex((mod(mod(p_sum, 18446744073709551616) + 27670116110564327424, 18446744073709551616)
    - 9223372036854775808)::bigint), 16, '0');
