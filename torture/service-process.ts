/**
 * The service as the torture runs it: the API of `deskwire serve`, on a clock that steps. A process of its own, told by its
 * parent where the database is, and gone with it.
 */
import { createApp } from '../packages/service/src/app.ts'
import { createPool, type DatabaseAddress } from '../packages/service/src/db/pool.ts'
import { maxLead } from '../packages/service/src/journal/lead.ts'
import { createLog } from '../packages/service/src/log.ts'
import { startStreamListener } from '../packages/service/src/roles/stream-listener.ts'
import { deliverySettings } from '../packages/service/test/harness/delivery-settings.ts'
import { type Steps, steppingClock } from './stepping-clock.ts'

export interface ServiceOrders {
  readonly address: DatabaseAddress
  readonly clock: Steps
}

/** Says where it listens. */
export interface ServiceReport {
  readonly url: string
}

const connections = 12

process.once('message', async ({ address, clock }: ServiceOrders) => {
  const log = createLog('fatal')
  const pool = createPool(address, { max: connections, onIdleError: () => {} })
  const settings = deliverySettings
  const { server, readers } = createApp({
    pool,
    clock: steppingClock(clock),
    log,
    settings,
    rateLimit: null,
    maxLead,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  startStreamListener(readers, address, log)
  process.send?.({ url } satisfies ServiceReport)
})

process.on('disconnect', () => process.exit(0))
