/**
 * Runs generated writers against real journals: several processes' worth of them, each with a clock of its own,
 * deciding on current or outdated rows and committing at once. Keeps what they were told.
 */
import fc from 'fast-check'
import type { Pool } from 'pg'
import type { Change, CommitOutcome } from '../../src/journal/change.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { StoredRow } from '../../src/journal/rows.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { TestClock } from './clock.ts'
import { type Decide, deskDecide, idempotencyRecord, rowOf } from './decide.ts'
import { tableRecords } from './follower.ts'

const small = (max: number) => fc.option(fc.nat({ max }), { nil: null, freq: 3 })
const which = fc.nat({ max: 1000 })

/** One thing that a writer tries. Numbers pick from what there is. */
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('add customer' as const), email: small(4) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('add ticket' as const),
      customer: which,
      externalId: small(3),
      key: small(3),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      row: which,
      stale: fc.boolean(),
      unique: small(4),
      dangling: fc.nat({ max: 5 }).map((n) => n === 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('remove' as const), row: which, stale: fc.boolean() }),
  },
)

const hours = fc.integer({ min: -5, max: 5 }).map((n) => n * 3_600_000)

/** Changes that are decided on one state and committed at once; then the clocks jump, and then come the next. */
export const rounds = fc.array(
  fc.record({
    writes: fc.array(fc.record({ writer: fc.nat({ max: 2 }), organization: fc.nat({ max: 1 }), command }), {
      minLength: 1,
      maxLength: 16,
      size: 'max',
    }),
    /** Before the decisions, and between them and their commits. */
    jumps: fc.tuple(hours, fc.constantFrom(0, 0, -3_600_000, 3_600_000)),
  }),
  { minLength: 1, maxLength: 6, size: 'max' },
)

export type Round = (typeof rounds extends fc.Arbitrary<infer R> ? R : never)[number]

export interface Attempt {
  readonly change: Change
  readonly outcome: CommitOutcome
  readonly round: number
}

interface Known {
  readonly kind: 'customer' | 'ticket'
  readonly id: string
  /** Every version that anyone was told of, oldest first; the last may be outdated too. */
  readonly versions: StoredRow[]
}

/** One organization's writers. */
export function interleaving(options: {
  readonly pool: Pool
  readonly organizationId: string
  readonly writers: readonly { readonly journal: Journal; readonly clock: TestClock }[]
}) {
  const { pool, organizationId, writers } = options
  const known = new Map<string, Known>()
  const attempts: Attempt[] = []
  let serial = 0

  return { attempts, refresh, decideAll, commitAll }

  /** What a reader of the tables would find now. */
  async function refresh(): Promise<void> {
    for (const [kind, table] of [
      ['customer', 'customers'],
      ['ticket', 'tickets'],
    ] as const) {
      for (const { id, removed, body } of await tableRecords(pool, table, organizationId)) {
        const row = known.get(id) ?? { kind, id, versions: [] }
        known.set(id, row)
        if (!removed && row.versions.at(-1)?.body !== body) row.versions.push(rowOf(body))
      }
    }
  }

  async function decideAll(writes: Round['writes']): Promise<{ writer: number; change: Change }[]> {
    const decided: { writer: number; change: Change }[] = []
    const pending: string[] = []
    for (const { writer, command } of writes) {
      const clock = writers[writer]!.clock
      const change = await decideOne(deskDecide(clock), clock, command, pending)
      if (change === null) continue
      if (change.operation === 'create' && change.table.kind === 'customer') pending.push(change.id)
      decided.push({ writer, change })
    }
    return decided
  }

  async function decideOne(
    desk: { customer: Decide; ticket: Decide },
    clock: TestClock,
    command: Round['writes'][number]['command'],
    pending: readonly string[],
  ): Promise<Change | null> {
    const n = ++serial
    if (command.does === 'add customer') {
      return desk.customer.create(organizationId, { name: `n${n}`, email: emailOf(command.email) })
    }
    if (command.does === 'add ticket') {
      const customers = [...known.values()].filter(({ kind }) => kind === 'customer').map(({ id }) => id)
      const candidates = [...customers, ...pending, newId(clock)]
      const customerId = candidates[command.customer % candidates.length]
      const body = { subject: `s${n}`, customerId, externalId: externalIdOf(command.externalId) }
      const key = command.key === null ? undefined : idempotencyRecord(`key ${command.key}`)
      return desk.ticket.create(organizationId, body, key)
    }
    const rows = [...known.values()]
    const row = rows[command.row % Math.max(rows.length, 1)]
    const version = row?.versions.at(command.stale ? 0 : -1)
    if (row === undefined || version === undefined) return null
    if (command.does === 'remove') return desk[row.kind].remove(organizationId, version)
    const patch =
      row.kind === 'customer'
        ? { name: `n${n}`, email: emailOf(command.unique) }
        : {
            subject: `s${n}`,
            externalId: externalIdOf(command.unique),
            ...(command.dangling ? { assigneeId: newId(clock) } : {}),
          }
    return desk[row.kind].update(organizationId, version, patch)
  }

  async function commitAll(decided: readonly { writer: number; change: Change }[], round: number) {
    const outcomes = await Promise.all(
      decided.map(({ writer, change }) => writers[writer]!.journal.commit(organizationId, change)),
    )
    decided.forEach(({ change }, n) => {
      attempts.push({ change, outcome: outcomes[n]!, round })
    })
  }
}

function emailOf(n: number | null): string | null {
  return n === null ? null : `e${n}@example.com`
}

function externalIdOf(n: number | null): string | null {
  return n === null ? null : `x${n}`
}
