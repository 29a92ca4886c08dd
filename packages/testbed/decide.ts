/** Changes decided as the service does, for tests that commit them themselves: in any order, stale or not. */

import { booking } from '../service/src/desk/booking/index.ts'
import { conversation } from '../service/src/desk/conversation/index.ts'
import { customer } from '../service/src/desk/customer/index.ts'
import { kinds } from '../service/src/desk/index.ts'
import { message } from '../service/src/desk/message/index.ts'
import { ticket } from '../service/src/desk/ticket/index.ts'
import { waitingStatuses } from '../service/src/desk/ticket/transitions.ts'
import { responseTo } from '../service/src/idempotency/stored-responses.ts'
import type { Change, ResponseToStore, Unit } from '../service/src/journal/change.ts'
import type { FoundRow, StoredRow } from '../service/src/journal/rows.ts'
import { done } from '../service/src/kernel/outcome.ts'
import { createKeyedQueue } from '../service/src/kernel/shared-work.ts'
import type { Clock } from '../service/src/kernel/timestamps.ts'
import { createChanges } from '../service/src/kinds/model/changes.ts'
import type { Kind } from '../service/src/kinds/model/kind.ts'

interface Decide {
  create(organizationId: string, body: object, idempotency?: ResponseToStore): Promise<Change>
  /** On this version of the row, current or not. */
  update(organizationId: string, row: StoredRow, patch: object): Promise<Change>
  remove(organizationId: string, row: StoredRow): Promise<Change>
}

/** By the kind's own rules, at the clock's time. A refusal is the test's mistake. */
function decide(kind: Kind, clock: Clock): Decide {
  async function captured(
    row: StoredRow | null,
    ask: (changes: ReturnType<typeof createChanges>) => Promise<unknown>,
  ): Promise<Change> {
    let change: Change | undefined
    const journal = {
      async commit(_organizationId: string, decided: Change) {
        change = decided
        return done('')
      },
      commitTogether: () => Promise.reject(new Error('one change at a time')),
    }
    const rows = () => ({ read: async () => row, changeable: async () => [], withUnique: async () => [] })
    const answer = await ask(createChanges({ kind, clock, journal, rows, queue: createKeyedQueue() }))
    if (change === undefined) throw new Error(`nothing to commit: ${JSON.stringify(answer)}`)
    return change
  }
  return {
    create: (organizationId, body, idempotency) =>
      captured(null, (changes) => changes.create(organizationId, body, idempotency ?? null)),
    update: (organizationId, row, patch) =>
      captured(row, (changes) => changes.update(organizationId, idOf(row), patch, () => null)),
    remove: (organizationId, row) =>
      captured(row, (changes) => changes.remove(organizationId, idOf(row), () => null)),
  }
}

/** The kinds whose changes commit by themselves. */
export function deskDecide(clock: Clock) {
  return {
    customer: decide(customer, clock),
    ticket: decide(ticket, clock),
    conversation: decide(conversation, clock),
    booking: decide(booking, clock),
  }
}

/** A message with the changes that it causes, decided on these versions of its conversation and of the tickets. */
export async function decideMessage(
  clock: Clock,
  organizationId: string,
  body: object,
  read: { readonly conversation: StoredRow; readonly tickets: readonly StoredRow[] },
): Promise<Unit> {
  let unit: Unit | undefined
  const journal = {
    async commit(_organizationId: string, change: Change, rest: Partial<Unit> = {}) {
      unit = { ...rest, changes: [change, ...(rest.changes ?? [])] }
      return done('')
    },
    commitTogether: () => Promise.reject(new Error('a message commits with what it moves')),
  }
  const target = idOf(read.conversation)
  const changeable = read.tickets
    .filter(({ body }) => waitingStatuses.includes(JSON.parse(body).status))
    .map((row): FoundRow => ({ ...row, id: idOf(row), target }))
  const rows = () => ({
    read: async () => read.conversation,
    changeable: async () => changeable,
    withUnique: async () => [],
  })
  const changes = createChanges({ kind: message, clock, journal, rows, queue: createKeyedQueue() })
  const answer = await changes.create(organizationId, body, null)
  if (unit === undefined) throw new Error(`nothing to commit: ${JSON.stringify(answer)}`)
  return unit
}

/** The row with this body, in this release's version. */
export function rowOf(body: string): StoredRow & { readonly id: string } {
  const { id, object, updatedAt } = JSON.parse(body) as { id: string; object: string; updatedAt: string }
  const version = kinds.find(({ name }) => name === object)?.table.version ?? 1
  return { id, body, updatedAt, version }
}

/** The response to store for an Idempotency-Key. */
export function idempotencyRecord(
  key: string,
  apiKeyId = '00000000-0000-7000-8000-000000000001',
): ResponseToStore {
  const requestHash = '00'.repeat(32)
  return responseTo({ apiKeyId, method: 'POST', path: '/v1/test', key, requestHash, status: 201 })
}

function idOf(row: StoredRow): string {
  return rowOf(row.body).id
}
