/** What a worker does beside sending, on a clock that the test moves. */
import { unshared } from '../service/src/db/fair-pool.ts'
import type { Queryable } from '../service/src/db/pool.ts'
import { createReports } from '../service/src/delivery/endpoint/report-endpoints.ts'
import { createDeliveryJobs } from '../service/src/delivery/queue/delivery-jobs.ts'
import type { Clock } from '../service/src/kernel/timestamps.ts'
import { deliverySettings } from './delivery-settings.ts'
import { tables } from './journal.ts'
import { inRounds } from './run-due.ts'
import type { TestService } from './service.ts'

/** `runDue` returns how many pieces were done. */
export function deliveryJobsOn(
  { database, app }: TestService,
  clock: Clock,
  connection: Queryable = database.pool,
) {
  let pieces = 0
  const make = () =>
    createDeliveryJobs({
      database: unshared(connection),
      tables,
      maxAttempts: 6,
      clock,
      log: app.server.log,
      onDeliveries: () => pieces++,
    })
  return inRounds(make, () => pieces)
}

/** `runDue` returns how many states were reported. */
export function reportsOn(
  { database, app }: TestService,
  clock: Clock,
  connection: Queryable = database.pool,
) {
  let reported = 0
  const make = () =>
    createReports({
      database: unshared(connection),
      tables,
      clock,
      schedule: deliverySettings.schedule,
      retention: deliverySettings.logRetention,
      log: app.server.log,
      onDeliveries: () => reported++,
    })
  return inRounds(make, () => reported)
}
