-- What holds for a whole call of the commit function.
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
  -- The delete of the call removes what it would detach as well.
  erases boolean
);
