-- A delivery to be created: pending and due now, unless the endpoint was `disabled`, or the event is `skipped`, for
-- that reason. Without `id` it gets a new one.
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
  skipped text
);
