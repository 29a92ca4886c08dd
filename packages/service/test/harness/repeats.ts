/** What at least once comes to where a worker is killed. */
import { deliveryTuning } from '../../src/delivery/tuning.ts'

const { drain, concurrency } = deliveryTuning

/**
 * Deliveries of one endpoint that are sent again at most when its worker is killed: those whose results are on their way to the
 * database, and those that are sent meanwhile of what was claimed.
 */
export const repeatedAtMost =
  drain.completeAt + concurrency.perEndpoint + drain.claimSizes.heavy + drain.refillBelow
