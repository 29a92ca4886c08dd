/** A process that upgrades parcels until it is done or killed: its argument is the database. */
import pino from 'pino'
import { createPool } from '../../src/db/pool.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createBackfillOf } from '../../src/kinds/model/backfill.ts'
import { deskWith, parcelWithUrgency } from './parcel.fixture.ts'

const pool = createPool(JSON.parse(process.argv[2] ?? ''), { max: 2, onIdleError: () => {} })
const log = pino({ level: 'silent' })
await createBackfillOf({ pool, clock: systemClock, log, kinds: deskWith(parcelWithUrgency) }).run()
await pool.end()
