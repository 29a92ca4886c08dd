/** Journals of several processes on one database, without the service around them. */
import type { Pool } from 'pg'
import { kinds } from '../service/src/desk/index.ts'
import type { Change, Refusal, Unit, UnitOutcome } from '../service/src/journal/change.ts'
import { type CommitAnswer, decodeOutcomes, encodeUnits } from '../service/src/journal/commit-protocol.ts'
import { createJournal } from '../service/src/journal/journal.ts'
import type { Outcome } from '../service/src/kernel/outcome.ts'
import { formatTimestamp } from '../service/src/kernel/timestamps.ts'
import { createOrganization } from '../service/src/organization/create.ts'
import { schemaOf } from '../service/src/schema.ts'
import { type TestClock, testClock } from './clock.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { type deskDecide as Desk, deskDecide, rowOf } from './decide.ts'

export const tables = kinds.map(({ table }) => table)

/** Deliveries are created, and no worker is notified. */
export const withoutWorkers = {
  maxAttempts: 6,
  notifier: { deliveries: () => {}, largeCommit: () => {}, changes: () => {} },
  tables,
}

export interface TestJournal extends AsyncDisposable {
  readonly database: TestDatabase
  readonly pool: Pool
  readonly clock: TestClock
  readonly organizationId: string
  readonly decide: ReturnType<typeof Desk>
  commit(...changes: Change[]): Promise<Outcome<string, Refusal>[]>
  /** All in one call of the commit function, whatever its usual grouping. */
  commitInOneCall(...units: Unit[]): Promise<UnitOutcome[]>
  /** Commits one change, which must succeed; returns the row. */
  done(change: Change | Promise<Change>): Promise<ReturnType<typeof rowOf>>
  /** The journal of another process, with its own clock if given. */
  beside(
    options?: Partial<
      Pick<
        Parameters<typeof createJournal>[0],
        'pool' | 'clock' | 'commitFunction' | 'maxClockSkew' | 'onCommit'
      >
    >,
  ): ReturnType<typeof createJournal>
}

/** `await using journal = await testJournal()`. */
export async function testJournal(): Promise<TestJournal> {
  const database = await testDatabase()
  const { pool } = database
  const clock = testClock()
  const { organizationId } = await createOrganization(pool, clock, 'Test')
  const { commitFunction } = schemaOf()
  const journal = createJournal({ pool, clock, commitFunction, ...withoutWorkers })
  const commit = (...changes: Change[]) =>
    Promise.all(changes.map((change) => journal.commit(organizationId, change)))
  return {
    database,
    pool,
    clock,
    organizationId,
    decide: deskDecide(clock),
    commit,
    async commitInOneCall(...units) {
      const { limits, changes, heads } = encodeUnits(units, {
        maxAttempts: withoutWorkers.maxAttempts,
        waitsForLock: false,
        maxClockSkew: null,
      })
      const { rows } = await pool.query<{ answer: CommitAnswer }>(
        `select ${commitFunction.name}($1, $2, $3, $4, $5) as answer`,
        [organizationId, formatTimestamp(clock.now()), limits, changes, heads],
      )
      return decodeOutcomes(units, rows[0]!.answer)
    },
    async done(change) {
      const [outcome] = await commit(await change)
      if (outcome?.outcome !== 'done') throw new Error(`not done: ${JSON.stringify(outcome)}`)
      return rowOf(outcome.value)
    },
    beside: (options) => createJournal({ pool, clock, commitFunction, ...withoutWorkers, ...options }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
