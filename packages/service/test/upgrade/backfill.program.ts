/** A process that upgrades parcels until it is done or killed: its argument is the database. */
import pino from 'pino'
import { createPool } from '../../src/db/pool.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createBackfill } from '../../src/kinds/model/backfill.ts'
import { schemaOf } from '../../src/schema.ts'
import { deskWith, parcelWithUrgency } from './parcel.fixture.ts'

const pool = createPool(JSON.parse(process.argv[2] ?? ''), { max: 2, onIdleError: () => {} })
const log = pino({ level: 'silent' })
const kinds = deskWith(parcelWithUrgency)
const { commitFunction } = schemaOf(kinds)
await createBackfill({ pool, clock: systemClock, log, kinds, commitFunction }).run()
await pool.end()
