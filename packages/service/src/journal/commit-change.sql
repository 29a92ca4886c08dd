-- One thing that a call of the commit function asks for; what a row does not need is null. In the order of
-- commit-protocol.ts, which writes it.
create type commit_change as (
  -- Those of one number commit together or not at all. Rows that a unit was decided on have its number too.
  unit integer,
  -- insert, update, delete; require: the row is as it was expected; referring: so are the rows that refer to it.
  operation text,
  kind text,
  id uuid,
  -- The version that it was decided on. A row of another version is not changed; null: a new row.
  expected timestamptz,
  created_at timestamptz,
  -- The place in p_heads of its head: the body, up to the part that the database writes.
  head integer,
  -- The kind's own columns, by name. referring: target, count and latest.
  own jsonb,
  -- Which of them must be unique or refer to rows that exist, as kind.column; kind.period: the time must be free.
  checks text[],
  -- When the time that it takes ends.
  ends text,
  -- The terms and bytes of the row that it expects, which its version proves; of a new row the most bytes it can have.
  old_term bigint,
  old_content bigint,
  bytes integer,
  -- What it is found by; null: as before.
  terms text,
  events text[],
  -- The fields that an update changes.
  changed jsonb,
  trace_context text,
  -- Who caused it; null: the service itself.
  cause jsonb,
  -- The response to store with it (idempotency/stored-responses.ts).
  response jsonb
);
