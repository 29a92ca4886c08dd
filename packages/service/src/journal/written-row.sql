-- One row that a commit has written, as the functions of its kind report it: what is told of it, and what it adds to
-- its kind's counters.
create type written_row as (
  kind text,
  id uuid,
  -- Null: it was detached, of which no event tells; or it is no row, but the bytes of stored responses.
  body text,
  -- Of a row that the call asked for, what the database has appended to the head that it was given, or the removal
  -- record; null: the row was reached by a removal.
  tail text,
  events text[],
  changed jsonb,
  trace_context text,
  cause jsonb,
  -- 1: new; -1: removed; 0: changed or detached.
  rows integer,
  bytes bigint,
  term numeric,
  content numeric,
  number bigint
);
