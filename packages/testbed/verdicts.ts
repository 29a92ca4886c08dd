/** Whether the outcomes of writers are true. */
import type { Pool } from 'pg'
import { eventsOf } from './audit.ts'
import { recordOf, type StreamRecord, tableRecords } from './follower.ts'
import { type Attempt, type AttemptOutcome, interleavedKinds, type UnitAttempt } from './interleave.ts'

type Of<K extends AttemptOutcome['reason']> = Attempt & { readonly outcome: { readonly reason: K } }

/** Returns the problems: every outcome is true, and each committed change has its events once. */
export async function verdicts(
  pool: Pool,
  organizationId: string,
  { attempts, units }: { readonly attempts: readonly Attempt[]; readonly units: readonly UnitAttempt[] },
) {
  const rows = new Map<string, StreamRecord>()
  for (const kind of interleavedKinds)
    for (const record of await tableRecords(pool, `${kind}s`, organizationId)) rows.set(record.id, record)
  const done = attempts.filter(({ outcome }) => outcome.reason === 'done') as Of<'done'>[]
  const refused = attempts.filter(({ outcome }) => outcome.reason !== 'done')
  return [
    ...doneProblems(done, rows),
    ...refused.flatMap((attempt) => refusalProblems(attempt, rows, done)),
    ...units.flatMap((attempt) => unitProblems(attempt, rows, done)),
    ...eventProblems(done, rows, await eventsOf(pool, organizationId)),
  ]
}

function doneProblems(done: readonly Of<'done'>[], rows: ReadonlyMap<string, StreamRecord>): string[] {
  const problems: string[] = []
  const successors = new Set<string>()
  const last = new Map<string, StreamRecord>()
  const latestOfRounds = new Map<number, string>()
  for (const { change, outcome, round } of done) {
    const record = recordOf(outcome.body)
    if (record.id !== change.id) problems.push(`${change.id} was told of ${record.id}`)
    if (change.operation !== 'insert') {
      const step = `${change.id} from ${change.expected}`
      if (successors.has(step)) problems.push(`two changes of ${step}`)
      if (record.at <= change.expected) problems.push(`${step} went back to ${record.at}`)
      successors.add(step)
    }
    if (record.at > (last.get(change.id)?.at ?? '')) last.set(change.id, record)
    if (record.at > (latestOfRounds.get(round) ?? '')) latestOfRounds.set(round, record.at)
    for (const [earlier, at] of latestOfRounds) {
      if (earlier < round && record.at <= at) problems.push(`${record.at} in round ${round}, after ${at}`)
    }
  }
  for (const [id, record] of last) {
    const row = rows.get(id)
    // Only the removal of its customer changes a row without a change of its own.
    const cascaded = row?.removed === true && row.at > record.at && row.body.includes('"resource":"ticket"')
    if (row?.body !== record.body && !cascaded && !isDetached(record, row, rows))
      problems.push(`${id} is ${row?.body}, not ${record.body}`)
  }
  for (const id of rows.keys()) if (!last.has(id)) problems.push(`nobody made ${id}`)
  return problems
}

/** Whether the row lost its customer by a removal, and is otherwise unchanged to the byte. */
function isDetached(
  before: StreamRecord,
  after: StreamRecord | undefined,
  rows: ReadonlyMap<string, StreamRecord>,
): boolean {
  const { customerId, updatedAt } = JSON.parse(before.body) as Record<string, string>
  const customer = rows.get(customerId ?? '')
  const ending = `"customerId":"${customerId}","updatedAt":"${updatedAt}"}`
  if (customer === undefined || !before.body.endsWith(ending)) return false
  const detached = `${before.body.slice(0, -ending.length)}"customerId":null,"updatedAt":"${customer.at}"}`
  return customer.removed && after?.body === detached
}

/** A unit is refused for a visible reason: one of its changes, a row it was decided on, or what refers to one. */
function unitProblems(
  { unit, outcome }: UnitAttempt,
  rows: ReadonlyMap<string, StreamRecord>,
  done: readonly Of<'done'>[],
): string[] {
  if (outcome.outcome !== 'refused') return []
  const problems: string[] = []
  if (outcome.error.size === 0) problems.push('a unit was refused for no reason')
  for (const { id, expected } of unit.rows ?? []) {
    if (outcome.error.has(id) && rows.get(id)?.at === expected) problems.push(`${id} is as it was read`)
  }
  const [first] = unit.changes
  const own = first === undefined ? undefined : outcome.error.get(first.id)
  if (own?.reason !== 'conflict') return problems
  for (const { table, id, count, latest } of unit.referring ?? []) {
    const ever = done
      .filter(({ change }) => change.table.kind === table.kind)
      .map(({ outcome }) => recordOf(outcome.body))
      .filter(({ body }) => body.includes(`"conversationId":"${id}"`))
    const existing = new Set(
      ever
        .map((record) => record.id)
        .filter((one) => /"status":"(pending|on_hold|resolved)"/.test(rows.get(one)?.body ?? '')),
    )
    // Later than what was read, or gone since.
    const moved = ever.some(({ at }) => at > (latest ?? '')) || existing.size !== count
    if (!moved) problems.push(`what refers to ${id} is as it was read`)
  }
  return problems
}

/** Versions never come back and removed rows never return, so the reason of a refusal is still visible at the end. */
function refusalProblems(
  { change, outcome, round }: Attempt,
  rows: ReadonlyMap<string, StreamRecord>,
  done: readonly Of<'done'>[],
): string[] {
  const row = rows.get(change.id)
  const outdated =
    change.operation !== 'insert' &&
    done.some((other) => other.round < round && isSuccessor(other.change, change.id, change.expected))
  if (outdated && outcome.reason !== 'conflict') return [`${change.id} had moved on: ${outcome.reason}`]
  if (change.operation === 'insert' && row !== undefined) return [`refused, and yet there: ${row.body}`]
  switch (outcome.reason) {
    case 'together':
      return []
    case 'conflict':
      // A creation's own conflict is with what refers to the row it moves: see unitProblems.
      if (change.operation === 'insert') return []
      return row?.at !== change.expected ? [] : [`no conflict about ${change.id}`]
    case 'dangling': {
      const id =
        change.operation === 'delete' ? undefined : change.references[columnOf(change, outcome.field)]
      const target = id === undefined ? undefined : rows.get(id)
      // One of the same round may have been created a moment later.
      const later = done.some((other) => other.change.id === id && other.change.operation === 'insert')
      return id !== undefined && (target === undefined || target.removed || later) ? [] : [`${id} exists`]
    }
    case 'duplicate': {
      const value = change.operation === 'delete' ? null : change.columns[columnOf(change, outcome.field)]
      const holder = done.some(
        (other) =>
          other.change.id === outcome.existingId &&
          other.change.operation !== 'delete' &&
          other.change.columns[columnOf(change, outcome.field)] === value,
      )
      return holder && outcome.existingId !== change.id && value !== null
        ? []
        : [`${outcome.existingId} never had the ${outcome.field} ${value}`]
    }
    case 'replayed': {
      const key = change.idempotency?.requestKey
      const first = done.filter((other) => other.change.idempotency?.requestKey === key)
      return key !== undefined && first.length >= 1 ? [] : [`nothing to replay for ${key}`]
    }
    case 'overlap':
      return [`${change.id} takes a time where nobody prevents it`]
    case 'full':
      return [`${change.id} is beyond a limit that nobody set`]
    case 'done':
      return []
  }
}

function isSuccessor(change: Attempt['change'], id: string, version: string): boolean {
  return change.operation !== 'insert' && change.id === id && change.expected >= version
}

function columnOf(change: Attempt['change'], field: string): string {
  const { unique, references } = change.table
  return [...unique, ...references].find((entry) => entry.field === field)?.column.name ?? field
}

/** Exactly the events of the committed changes and of the cascaded rows. */
function eventProblems(
  done: readonly Of<'done'>[],
  rows: ReadonlyMap<string, StreamRecord>,
  events: Awaited<ReturnType<typeof eventsOf>>,
): string[] {
  // No two changes of one row share a stamp.
  const key = (subject: string, type: string, at: string) => `${subject} ${type} ${at}`
  const found = new Map(events.map((event) => [key(event.subject_id, event.type, event.at), event]))
  const problems: string[] = []
  const removedByThemselves = new Set<string>()
  for (const { change, outcome } of done) {
    if (change.operation === 'delete') removedByThemselves.add(change.id)
    for (const type of change.events) {
      const place = key(change.id, type, recordOf(outcome.body).at)
      if (found.get(place)?.body !== outcome.body) problems.push(`${type} of ${change.id} is wrong`)
      found.delete(place)
    }
  }
  const cascaded = [...rows.values()].filter(({ id, removed }) => removed && !removedByThemselves.has(id))
  const rest = [...found.values()].map((event) => `${event.type} ${event.body}`).sort()
  const wanted = cascaded.map(({ body }) => `ticket.deleted ${body}`).sort()
  if (rest.join() !== wanted.join()) problems.push(`cascades: ${rest.join()}, expected ${wanted.join()}`)
  return problems
}
