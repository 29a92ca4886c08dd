/** Pieces of the functions that put deliveries in the queue, whichever room calls them. */

/** Has a worker look at the lane of the endpoint p_webhook_id. Locked first, as a settling computes what is due on it. */
export const wakeLane = `perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  update lanes set due_at = least(due_at, p_now)
    where organization_id = p_organization_id and webhook_id = p_webhook_id;`

/** What a manual retry does to a delivery, and so does a recovery: its schedule begins anew, with its stored payload. */
export const startAnew = `status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity'`
