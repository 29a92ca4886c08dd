-- What holds for a whole call of the commit function, and what its changes are, so that it takes no step that they do
-- not need.
create type commit_limits as (
  max_attempts integer,
  -- How long to wait for the clock row, and for any other.
  lock_timeout text,
  row_timeout text,
  -- How far the time given may be ahead of the database's clock, in milliseconds; null: any.
  max_clock_skew integer,
  -- Of all objects of the organization; null: no limit.
  max_rows bigint,
  max_bytes bigint,
  -- The delete of the call also removes the rows that it would only detach from what is removed.
  erases boolean,
  -- The kinds of its changes; each operation with its kind, and index with the kind of a change that has terms; checks.
  kinds text[],
  operations text[],
  checks text[],
  -- Whether a unit has several entries, whether a change is a delete, and whether one has a response.
  are_together boolean,
  have_deletes boolean,
  have_responses boolean
);
