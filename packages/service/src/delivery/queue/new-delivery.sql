-- A delivery to be created: pending and due now, unless the endpoint was `disabled`, or the event is `skipped`, for
-- that reason. Without `id` it gets a new one. `wait`: for how many seconds the endpoint coalesces updates, or null;
-- `coalesced_into` is for the function that does that.
create type new_delivery as (
  id uuid,
  webhook_id uuid,
  event_id uuid,
  event_type text,
  event_created_at timestamptz(3),
  subject_kind text,
  subject_id uuid,
  max_attempts int,
  disabled text,
  skipped text,
  wait int,
  coalesced_into uuid
);
