/** The stream's clock: later with each commit whatever clocks say, and not dragged ahead by one that is wrong. */
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { type TestJournal, testJournal } from '../../../testbed/journal.ts'
import { testService } from '../../../testbed/service.ts'
import { readDatabaseClock } from '../../src/db/clock.ts'
import { type Clock, parseTimestamp } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'

const minute = 60_000
const hour = 60 * minute

afterEach(() => {
  vi.useRealTimers()
})

/** The last stamp, in milliseconds. */
async function lastStamp({ pool }: Pick<TestJournal, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ last_stamp: Date }>('select c.last_stamp from clocks c')
  return rows[0]!.last_stamp.getTime()
}

function stampOf(body: string): number {
  return parseTimestamp((JSON.parse(body) as { updatedAt: string }).updatedAt) as number
}

/** The machine's clock, wrong by so much. */
const wrongBy = (milliseconds: number): Clock => ({ now: () => Date.now() + milliseconds })

describe('each stamp is later than all before it, and no earlier than the time it was given', () => {
  const steps = fc.constantFrom(0, 1, -1, 3 * hour, -3 * hour, 26 * hour, -500 * hour)

  test('whatever processes with clocks that step commit in whatever order', async () => {
    await using journal = await testJournal()
    const processes = [0, -7 * hour, 5 * hour].map((skew) => {
      const clock = testClock()
      clock.advance(skew)
      return { clock, journal: journal.beside({ clock }) }
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ process: fc.nat({ max: 2 }), step: steps, together: fc.integer({ min: 1, max: 3 }) }),
          {
            minLength: 1,
            maxLength: 12,
          },
        ),
        async (commits) => {
          for (const { process, step, together } of commits) {
            const one = processes[process]!
            one.clock.advance(step)
            journal.clock.set(one.clock.now())
            const before = await lastStamp(journal)
            const changes = await Promise.all(
              Array.from({ length: together }, (_, n) =>
                journal.decide.customer.create(journal.organizationId, { name: `c${n}` }),
              ),
            )
            const outcomes = await Promise.all(
              changes.map((change) => one.journal.commit(journal.organizationId, change)),
            )
            const stamps = outcomes.map((outcome) =>
              outcome.outcome === 'done' ? stampOf(outcome.value) : Number.NaN,
            )
            for (const stamp of stamps) expect(stamp).toBeGreaterThan(before)
            expect(Math.min(...stamps)).toBe(Math.max(before + 1, one.clock.now()))
            expect(await lastStamp(journal)).toBe(Math.max(...stamps))
          }
        },
      ),
      { numRuns: 12 },
    )
  })
})

describe('a clock that is ahead of the database', () => {
  test('by less than a minute is believed; by more, nothing is committed and the client may send it again', async () => {
    await using database = await testDatabase()
    await using near = await testService({ database, clock: wrongBy(50_000), guarded: true })
    const { organizationId, token } = near.api
    await makeCustomer(near.api)
    await using large = await testService({ database, clock: wrongBy(3 * hour), guarded: true })
    const api = large.withToken(token)
    const answer = await api.post('/v1/customers', { name: 'from the future' })
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('clock') })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await near.api.get('/v1/customers')).json.pagination.total).toBe(1)
    const { rows } = await database.pool.query<{ last_stamp: Date }>(
      'select c.last_stamp from clocks c where c.organization_id = $1',
      [organizationId],
    )
    expect(rows[0]!.last_stamp.getTime()).toBeLessThan(Date.now() + minute)
    const said = large.logged.filter(({ msg }) => String(msg).includes('clock'))
    expect(said).toHaveLength(1)
    // Others go on.
    await makeCustomer(near.api)
  })

  test('is no clock to begin a stream with', async () => {
    await using database = await testDatabase()
    const real = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(real + 3 * hour)
    const { pool } = database
    await createOrganization(pool, await readDatabaseClock(pool), 'New')
    expect(await lastStamp({ pool })).toBeLessThan(real + minute)
  })

  test('is refused as a group at once, not change by change', async () => {
    await using journal = await testJournal()
    const clock = wrongBy(2 * minute)
    let calls = 0
    const pool = Object.assign(Object.create(journal.pool), {
      query(...asked: unknown[]) {
        calls++
        return Reflect.apply(journal.pool.query, journal.pool, asked)
      },
    })
    const ahead = journal.beside({ pool, clock, maxClockSkew: minute })
    const changes = await Promise.all(
      [1, 2, 3, 4].map((n) => journal.decide.customer.create(journal.organizationId, { name: `c${n}` })),
    )
    const outcomes = await Promise.allSettled(
      changes.map((change) => ahead.commit(journal.organizationId, change)),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(calls).toBe(1)
  })
})

describe('after a failover to a server whose clock lags', () => {
  test('stamps go on from the last one, the lead is told of and shrinks, and the log says so once a minute', async () => {
    await using journal = await testJournal()
    // As the former server had it: two hours ahead of this one.
    const before = Date.now() + 2 * hour
    const former = journal.beside({ clock: { now: () => before } })
    const create = (n: number) => journal.decide.customer.create(journal.organizationId, { name: `c${n}` })
    await former.commit(journal.organizationId, await create(0))
    const leads: number[] = []
    const now = journal.beside({
      clock: wrongBy(0),
      maxClockSkew: minute,
      onCommit: ({ clockSkew }) => leads.push(clockSkew ?? Number.NaN),
    })
    for (const n of [1, 2, 3]) {
      const outcome = await now.commit(journal.organizationId, await create(n))
      expect(outcome.outcome === 'done' && stampOf(outcome.value)).toBe(before + n)
    }
    expect(leads).toHaveLength(3)
    for (const clockSkew of leads) {
      expect(clockSkew).toBeGreaterThan(2 * hour - minute)
      expect(clockSkew).toBeLessThanOrEqual(2 * hour + 10)
    }
  })

  test('the service says so in its log and its metrics', async () => {
    await using database = await testDatabase()
    await using former = await testService({ database, clock: wrongBy(2 * hour) })
    await makeCustomer(former.api)
    await using service = await testService({ database, guarded: true })
    const api = service.withToken(former.api.token)
    await makeCustomer(api, { name: 'one' })
    await makeCustomer(api, { name: 'two' })
    const warnings = service.logged.filter(({ msg }) => String(msg).includes('ahead of the database'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatchObject({ level: 'warn', seconds: expect.any(Number) })
    const metrics = (await api.get('/metrics')).text
    const [, seconds] = /^deskwire_stream_lead_seconds\{[^}]*\} (\S+)$/m.exec(metrics) ?? []
    expect(Number(seconds)).toBeGreaterThan(7_000)
    expect(Number(seconds)).toBeLessThanOrEqual(7_201)
  })
})
