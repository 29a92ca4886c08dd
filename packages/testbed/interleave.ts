/**
 * Runs generated writers against several processes' journals, each with its own clock, deciding on current or outdated
 * rows and committing at once. Stores the outcomes.
 */
import fc from 'fast-check'
import type { Pool } from 'pg'
import type { Change, Refusal, Unit, UnitOutcome } from '../service/src/journal/change.ts'
import type { Journal } from '../service/src/journal/journal.ts'
import type { StoredRow } from '../service/src/journal/rows.ts'
import { newId } from '../service/src/kernel/ids.ts'
import { done, refused } from '../service/src/kernel/outcome.ts'
import type { TestClock } from './clock.ts'
import { decideMessage, deskDecide, idempotencyRecord, rowOf } from './decide.ts'
import { tableRecords } from './follower.ts'

const small = (max: number) => fc.option(fc.nat({ max }), { nil: null, freq: 3 })
const which = fc.nat({ max: 1000 })

/** Numbers pick from the existing objects. */
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('add customer' as const), email: small(4) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('add ticket' as const),
      customer: which,
      conversation: fc.option(which, { nil: null }),
      externalId: small(3),
      key: small(3),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('add conversation' as const, 'add booking' as const),
      customer: which,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('add message' as const),
      conversation: which,
      stale: fc.boolean(),
      inbound: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      row: which,
      stale: fc.boolean(),
      unique: small(4),
      dangling: fc.nat({ max: 5 }).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('remove' as const), row: which, stale: fc.boolean() }),
  },
)

const hours = fc.integer({ min: -5, max: 5 }).map((n) => n * 3_600_000)

/** Changes decided on one state and committed at once; then the clocks jump. */
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

/** First rounds, so that later ones have objects to refer to. */
export const opening: readonly Round[] = [
  { does: 'add customer', email: null } as const,
  { does: 'add conversation', customer: 1 } as const,
  // The same key twice at once.
  { does: 'add ticket', customer: 1, conversation: null, externalId: null, key: 1 } as const,
].map((command) => ({
  writes: [0, 1].flatMap((organization) => [
    { writer: 0, organization, command },
    { writer: 1, organization, command },
  ]),
  jumps: [0, 0],
}))

/** `together`: refused because of another change of its unit. */
export type AttemptOutcome =
  | { readonly reason: 'done'; readonly body: string }
  | { readonly reason: 'replayed' | 'together' }
  | Refusal

export interface Attempt {
  readonly change: Change
  readonly outcome: AttemptOutcome
  readonly round: number
}

/** A unit of several rows, and its outcome. */
export interface UnitAttempt {
  readonly unit: Unit
  readonly outcome: UnitOutcome
}

/** Each after the kinds that it refers to. */
export const interleavedKinds = ['customer', 'conversation', 'ticket', 'booking', 'message'] as const

interface Known {
  readonly kind: (typeof interleavedKinds)[number]
  readonly id: string
  /** All known versions, oldest first; the last may be outdated too. */
  readonly versions: StoredRow[]
}

/** The writers of one organization. */
export function interleaving(options: {
  readonly pool: Pool
  readonly organizationId: string
  readonly writers: readonly { readonly journal: Journal; readonly clock: TestClock }[]
}) {
  const { pool, organizationId, writers } = options
  const known = new Map<string, Known>()
  const attempts: Attempt[] = []
  const units: UnitAttempt[] = []
  let serial = 0

  return { attempts, units, refresh, decideAll, commitAll }

  /** Reads the tables. */
  async function refresh(): Promise<void> {
    for (const kind of interleavedKinds) {
      for (const { id, removed, body } of await tableRecords(pool, `${kind}s`, organizationId)) {
        const row = known.get(id) ?? { kind, id, versions: [] }
        known.set(id, row)
        if (!removed && row.versions.at(-1)?.body !== body) row.versions.push(rowOf(body))
      }
    }
  }

  async function decideAll(writes: Round['writes']): Promise<{ writer: number; unit: Unit }[]> {
    const decided: { writer: number; unit: Unit }[] = []
    const pending: string[] = []
    for (const { writer, command } of writes) {
      const unit = await decideOne(writers[writer]!.clock, command, pending)
      if (unit === null) continue
      const [first] = unit.changes
      if (first?.operation === 'insert' && first.table.kind === 'customer') pending.push(first.id)
      decided.push({ writer, unit })
    }
    return decided
  }

  async function decideOne(
    clock: TestClock,
    command: Round['writes'][number]['command'],
    pending: readonly string[],
  ): Promise<Unit | null> {
    const desk = deskDecide(clock)
    const n = ++serial
    const alone = async (change: Promise<Change>): Promise<Unit> => ({ changes: [await change] })
    switch (command.does) {
      case 'add customer':
        return alone(desk.customer.create(organizationId, { name: `n${n}`, email: emailOf(command.email) }))
      case 'add conversation': {
        const customerId = customerOf(clock, command.customer, pending)
        return alone(desk.conversation.create(organizationId, { customerId, channel: 'chat' }))
      }
      case 'add booking': {
        const customerId = customerOf(clock, command.customer, pending)
        return alone(desk.booking.create(organizationId, { ...appointment, title: `b${n}`, customerId }))
      }
      case 'add ticket': {
        const customerId = customerOf(clock, command.customer, pending)
        const conversation = command.conversation === null ? null : pick('conversation', command.conversation)
        const body = {
          subject: `s${n}`,
          customerId,
          status: n % 2 === 0 ? 'pending' : 'open',
          conversationId: conversation?.id ?? null,
          externalId: externalIdOf(command.externalId),
        }
        const key = command.key === null ? undefined : idempotencyRecord(`key ${command.key}`)
        return alone(desk.ticket.create(organizationId, body, key))
      }
      case 'add message':
        return decideArrival(clock, command, n)
      case 'remove': {
        const row = pick('customer', command.row) ?? pick('ticket', command.row)
        const either = command.row % 2 === 0 ? row : (pick('ticket', command.row) ?? row)
        const version = either?.versions.at(command.stale ? 0 : -1)
        if (either === undefined || version === undefined) return null
        const removing = either.kind === 'customer' ? desk.customer : desk.ticket
        return alone(removing.remove(organizationId, version))
      }
      case 'change':
        return decideChange(clock, command, n)
    }
  }

  async function decideArrival(
    clock: TestClock,
    command: { readonly conversation: number; readonly stale: boolean; readonly inbound: boolean },
    n: number,
  ): Promise<Unit | null> {
    const picked = pick('conversation', command.conversation)
    const conversation = picked?.versions.at(command.stale ? 0 : -1)
    if (picked === undefined || conversation === undefined) return null
    const tickets = all('ticket').flatMap(({ versions }) => {
      const version = versions.at(-1)
      return version?.body.includes(`"conversationId":"${picked.id}"`) ? [version] : []
    })
    const author = { type: command.inbound ? 'customer' : 'ai' }
    const direction = command.inbound ? 'inbound' : 'outbound'
    const body = { conversationId: picked.id, direction, author, body: `m${n}` }
    return decideMessage(clock, organizationId, body, { conversation, tickets })
  }

  async function decideChange(
    clock: TestClock,
    command: {
      readonly row: number
      readonly stale: boolean
      readonly unique: number | null
      readonly dangling: boolean
    },
    n: number,
  ): Promise<Unit | null> {
    const desk = deskDecide(clock)
    const changeable = [...known.values()].filter(({ kind }) => kind !== 'message')
    const row = changeable[command.row % Math.max(changeable.length, 1)]
    const version = row?.versions.at(command.stale ? 0 : -1)
    if (row === undefined || version === undefined || row.kind === 'message') return null
    const dangling = command.dangling ? { assigneeId: newId(clock) } : {}
    const external = { externalId: externalIdOf(command.unique) }
    const patches = {
      customer: { name: `n${n}`, email: emailOf(command.unique) },
      ticket: { subject: `s${n}`, ...external, ...dangling },
      conversation: { subject: `s${n}`, ...external, ...dangling },
      booking: { notes: `n${n}`, ...external, ...dangling },
    }
    return { changes: [await desk[row.kind].update(organizationId, version, patches[row.kind])] }
  }

  function all(kind: Known['kind']): Known[] {
    return [...known.values()].filter((row) => row.kind === kind)
  }

  function pick(kind: Known['kind'], n: number): Known | undefined {
    const rows = all(kind)
    return rows[n % Math.max(rows.length, 1)]
  }

  /** A customer that exists, existed, is being created, or never was. */
  function customerOf(clock: TestClock, n: number, pending: readonly string[]): string {
    const candidates = [...all('customer').map(({ id }) => id), ...pending]
    if (n % 8 === 0 || candidates.length === 0) return newId(clock)
    return candidates[n % candidates.length]!
  }

  async function commitAll(decided: readonly { writer: number; unit: Unit }[], round: number) {
    const outcomes = await Promise.all(
      decided.map(({ writer, unit }) => commitOne(writers[writer]!.journal, unit)),
    )
    decided.forEach(({ unit }, n) => {
      const outcome = outcomes[n]!
      if (unit.rows !== undefined) units.push({ unit, outcome })
      unit.changes.forEach((change, m) => {
        attempts.push({ change, outcome: outcomeOf(change, m, outcome), round })
      })
    })
  }

  async function commitOne(journal: Journal, unit: Unit): Promise<UnitOutcome> {
    const [change] = unit.changes
    if (unit.rows !== undefined || change === undefined) return journal.commitTogether(organizationId, unit)
    const outcome = await journal.commit(organizationId, change)
    if (outcome.outcome === 'done') return done([outcome.value])
    return outcome.outcome === 'refused' ? refused(new Map([[change.id, outcome.error]])) : outcome
  }
}

const appointment = {
  startAt: '2026-04-01T09:00:00.000Z',
  endAt: '2026-04-01T10:00:00.000Z',
  timezone: 'UTC',
}

function outcomeOf(change: Change, n: number, outcome: UnitOutcome): AttemptOutcome {
  if (outcome.outcome === 'done') return { reason: 'done', body: outcome.value[n] as string }
  if (outcome.outcome === 'replayed') return { reason: change.idempotency === null ? 'together' : 'replayed' }
  return (outcome.outcome === 'refused' && outcome.error.get(change.id)) || { reason: 'together' }
}

function emailOf(n: number | null): string | null {
  return n === null ? null : `e${n}@example.com`
}

function externalIdOf(n: number | null): string | null {
  return n === null ? null : `x${n}`
}
