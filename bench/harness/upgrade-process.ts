/** Runs the backfill on a database (its argument), and prints the number of rows and milliseconds. */
import pino from 'pino'
import { createPool } from '../../packages/service/src/db/pool.ts'
import { systemClock } from '../../packages/service/src/kernel/timestamps.ts'
import { createBackfill } from '../../packages/service/src/kinds/model/backfill.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { upgradedKinds } from './upgraded-customer.ts'

const pool = createPool(JSON.parse(process.argv[2] ?? ''), { max: 2, onIdleError: () => {} })
const log = pino({ level: 'silent' })
const backfill = createBackfill({
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
