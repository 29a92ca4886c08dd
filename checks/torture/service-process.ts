/**
 * The service as the torture runs it: the API as `deskwire serve` starts it, with one thing of its own, a clock that steps
 * where that follows the database's. It has no limit of requests either, and no worker, as nobody subscribes to anything. A
 * process of its own, told by its parent where the database is, and gone with it.
 */
import { connections } from '../../packages/service/src/db/open.ts'
import { createPool, type DatabaseAddress } from '../../packages/service/src/db/pool.ts'
import { createLog } from '../../packages/service/src/kernel/log.ts'
import { startApi } from '../../packages/service/src/roles/api.ts'
import { deliverySettings } from '../../packages/testbed/delivery-settings.ts'
import { type Steps, steppingClock } from './stepping-clock.ts'

export interface ServiceOrders {
  readonly address: DatabaseAddress
  readonly clock: Steps
}

/** Its address. */
export interface ServiceReport {
  readonly url: string
}

process.once('message', async ({ address, clock }: ServiceOrders) => {
  const pool = createPool(address, { max: connections, onIdleError: () => {} })
  const api = await startApi(
    { host: '127.0.0.1', port: 0 },
    {
      pool,
      address,
      log: createLog('fatal'),
      settings: deliverySettings,
      rateLimit: null,
      searchTimeout: 30_000,
      otherMetrics: async () => [],
      clock: { ...steppingClock(clock), ready: Promise.resolve(), stop: () => {} },
    },
  )
  process.send?.({ url: api.address } satisfies ServiceReport)
})

process.on('disconnect', () => process.exit(0))
