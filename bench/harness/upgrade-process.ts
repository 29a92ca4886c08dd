/** Upgrades the customers of a database, as a worker does, and prints how many and in how many milliseconds. Its argument is the database. */
import pino from 'pino'
import { createPool } from '../../packages/service/src/db/pool.ts'
import { systemClock } from '../../packages/service/src/kernel/timestamps.ts'
import { createBackfillOf } from '../../packages/service/src/kinds/model/backfill.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { upgradedKinds } from './upgraded-customer.ts'

const pool = createPool(JSON.parse(process.argv[2] ?? ''), { max: 2, onIdleError: () => {} })
const log = pino({ level: 'silent' })
const backfill = createBackfillOf({
  pool,
  clock: systemClock,
  log,
  kinds: upgradedKinds,
  commitFunction: schemaOf(upgradedKinds).commitFunction,
})
const since = performance.now()
const rows = await backfill.run()
process.stdout.write(JSON.stringify({ rows, milliseconds: performance.now() - since }))
await pool.end()
