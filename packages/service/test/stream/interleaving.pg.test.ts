/**
 * The stream's promise as a property: whatever writers of several processes do at once, under clocks that jump by
 * hours, the stream read from any beginning gives exactly the rows, and everybody was told the truth.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { differences, feedReader, follow, tableRecords } from '../../../testbed/follower.ts'
import { interleavedKinds, interleaving, opening, type Round, rounds } from '../../../testbed/interleave.ts'
import { withoutWorkers } from '../../../testbed/journal.ts'
import { verdicts } from '../../../testbed/verdicts.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool } from '../../src/db/pool.ts'
import { kinds } from '../../src/desk/index.ts'
import { createFeed } from '../../src/journal/feed.ts'
import { defaultLimits } from '../../src/journal/group-commit.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createOrganization } from '../../src/organization/create.ts'
import { schemaOf } from '../../src/schema.ts'

const tables = kinds
  .filter(({ name }) => interleavedKinds.some((one) => one === name))
  .map(({ table }) => table)

const limits = fc.record({
  changes: fc.integer({ min: 1, max: 8 }),
  organizations: fc.integer({ min: 1, max: 2 }),
  calls: fc.integer({ min: 1, max: 3 }),
  longCalls: fc.integer({ min: 1, max: 2 }),
})

const plan = fc.record({
  rounds,
  limits: fc.tuple(limits, limits, limits),
  skew: fc.tuple(fc.constant(0), fc.constant(7_200_000), fc.constant(-86_400_000)),
  page: fc.integer({ min: 1, max: 5 }),
  joins: fc.nat({ max: 5 }),
})

test('any interleaving of commits is a stream that gives the rows', async () => {
  await using database = await testDatabase()
  const tally = new Map<string, number>()
  const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1)
  const pools = [1, 2, 3].map(() => createPool(database.connection, { max: 3, onIdleError: () => {} }))
  try {
    await fc.assert(
      fc.asyncProperty(plan, async (plan) => {
        const { commitFunction } = schemaOf()
        const writers = pools.map((pool, n) => {
          const clock = testClock()
          clock.advance(plan.skew[n as 0 | 1 | 2])
          const options = {
            pool,
            clock,
            commitFunction,
            ...withoutWorkers,
            limits: { ...defaultLimits, ...plan.limits[n as 0 | 1 | 2] },
          }
          return { clock, journal: createJournal(options) }
        })
        const two = await Promise.all([newOrganization(), newOrganization()])
        for (const [round, one] of [...opening, ...plan.rounds].entries()) await playRound(one, round)
        for (const organization of two) await organization.check()

        async function playRound({ writes, jumps: [before, between] }: Round, round: number) {
          for (const [n, { clock }] of writers.entries()) clock.advance(n === 1 ? before : -before / 2)
          for (const organization of two) await organization.writers.refresh()
          const decided = await Promise.all(
            two.map((organization, n) =>
              organization.writers.decideAll(writes.filter((write) => write.organization === n)),
            ),
          )
          for (const { clock } of writers) clock.advance(between)
          await Promise.all(two.map((organization, n) => organization.commitWhileReading(decided[n]!, round)))
        }

        async function newOrganization() {
          const clock = testClock()
          const { organizationId } = await createOrganization(database.pool, clock, 'Property')
          const organizationCreatedAt = clock.now()
          const feeds = tables.map((table) => createFeed(unshared(database.pool), table))
          const early = feeds.map((feed) => follow(feedReader(feed, organizationId, plan.page)))
          const late = feeds.map((feed) => follow(feedReader(feed, organizationId, plan.page)))
          const writing = interleaving({ pool: database.pool, organizationId, writers })

          return {
            writers: writing,
            async commitWhileReading(
              decided: Awaited<ReturnType<typeof writing.decideAll>>,
              round: number,
            ): Promise<void> {
              const reading = [...early, ...(round >= plan.joins ? late : [])].map((one) => one.poll())
              await Promise.all([writing.commitAll(decided, round), ...reading])
            },
            async check(): Promise<void> {
              for (const { change, outcome } of writing.attempts) {
                count(outcome.reason)
                if (outcome.reason === 'done' && change.operation === 'insert')
                  count(`new ${change.table.kind}`)
              }
              expect(await verdicts(database.pool, organizationId, writing)).toEqual([])
              expect(await audit(database.pool, organizationId)).toEqual([])
              for (const [n, feed] of feeds.entries()) {
                const table = await tableRecords(database.pool, tables[n]!.name, organizationId)
                for (const { body } of table) if (body.includes('"customerId":null')) count('detached')
                const whole = follow(feedReader(feed, organizationId, plan.page, { organizationCreatedAt }))
                await whole.drain()
                expect(whole.seen).toEqual(table)
                const first = follow(feedReader(feed, organizationId, plan.page))
                await first.drain()
                expect(first.seen).toEqual(table.filter(({ removed }) => !removed))
                for (const follower of [whole, first, early[n]!, late[n]!]) {
                  await follower.drain()
                  expect(follower.faults).toEqual([])
                  expect(differences(follower.copy, table)).toEqual([])
                }
              }
            },
          }
        }
      }),
      { numRuns: 24, endOnFailure: true },
    )
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
  console.log(`met: ${[...tally].map(([what, count]) => `${count} ${what}`).join(', ')}`)
  // Whatever can happen was met, so that none of the checks above was idle.
  expect([...tally.keys()].sort()).toEqual(
    [
      ...['conflict', 'dangling', 'detached', 'done', 'duplicate', 'replayed', 'together'],
      ...interleavedKinds.map((kind) => `new ${kind}`),
    ].sort(),
  )
})
