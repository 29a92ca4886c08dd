/** Pieces of the functions that put deliveries in the queue, whichever room calls them. */
import { lostInARow, mostAlone } from './alone.ts'

/**
 * Sets what a lane keeps of lost leases when another is lost, if `lost` is so: the third in a row has its deliveries sent one at a
 * time. Of a lane that is called `l`.
 */
export const countLoss = (
  lost: string,
) => `lost_leases = case when ${lost} then least(l.lost_leases + 1, ${lostInARow}) else l.lost_leases end,
          alone_left = case when ${lost} and l.lost_leases >= ${lostInARow - 1} then ${mostAlone} else l.alone_left end`

/** Has a worker look at the lane of the endpoint p_webhook_id. Locked first, as a settling computes what is due on it. */
export const wakeLane = `perform 1 from lanes l where l.organization_id = p_organization_id and l.webhook_id = p_webhook_id for update;
  update lanes set due_at = least(due_at, p_now)
    where organization_id = p_organization_id and webhook_id = p_webhook_id;`

/** What a manual retry does to a delivery, and so does a recovery: its schedule begins anew, with its stored payload. */
export const startAnew = `status = 'pending', payload = 'stored', attempts_before = attempt_count,
      max_attempts = attempt_count + p_attempts, next_attempt_at = p_now, log_day = 'infinity'`
