/**
 * Writers over HTTP that store what was acknowledged: creations, changes of hot and cold rows, and deletions, also of
 * customers whose tickets are being created.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { eventsOf } from './audit.ts'
import { recordOf, tableRecords } from './follower.ts'

export type Call = (
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<{ readonly status: number; readonly text: string }>

export interface Acknowledged {
  readonly kind: 'customers' | 'tickets'
  readonly id: string
  /** The response; null for a deletion. */
  readonly body: string | null
}

/** A POST to repeat, answered or not. */
export interface Post {
  readonly path: string
  readonly body: object
  readonly key: string
  readonly answered: string | null
}

export interface Load {
  readonly acknowledged: Acknowledged[]
  readonly posts: Post[]
  /** Responses by their code, and `unanswered`. */
  readonly tally: Map<string, number>
  readonly inFlight: number
  readonly maxInFlight: number
  /** One random change; returns whether it was answered. Never rejects. */
  write(call: Call, dice: () => number): Promise<boolean>
}

/** Responses that such writers may get; any other is a fault of the service. */
export const expectedAnswers = new Set([
  ...['201', '200', '204', '404 not_found', '409 duplicate', '422 validation_failed', '503 unavailable'],
])

export function createLoad(): Load {
  const ids = { customers: [] as string[], tickets: [] as string[] }
  const acknowledged: Acknowledged[] = []
  const posts: Post[] = []
  const tally = new Map<string, number>()
  let serial = 0
  let inFlight = 0
  let maxInFlight = 0

  /** After what is gone for now it waits, as clients do: a hundred refusals keep its return from the processor. */
  async function ask(...asked: Parameters<typeof askOnce>) {
    const answer = await askOnce(...asked)
    if (answer === undefined || answer.status === 503) await delay(50)
    return answer === undefined || answer.status < 300 ? answer : null
  }

  async function askOnce(call: Call, ...[method, path, body, headers]: Parameters<Call>) {
    inFlight++
    maxInFlight = Math.max(maxInFlight, inFlight)
    try {
      const answer = await call(method, path, body, headers)
      const code = answer.status < 400 ? '' : ` ${(JSON.parse(answer.text) as { code: string }).code}`
      count(`${answer.status}${code}`)
      return answer
    } catch {
      count('unanswered')
      return undefined
    } finally {
      inFlight--
    }
  }

  function count(what: string): void {
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }

  async function post(call: Call, kind: 'customers' | 'tickets', body: object): Promise<boolean> {
    const key = randomUUID()
    const path = `/v1/${kind}`
    const answer = await ask(call, 'POST', path, body, { 'idempotency-key': key })
    if (answer === null) return true
    posts.push({ path, body, key, answered: answer?.text ?? null })
    if (answer === undefined) return false
    const { id } = JSON.parse(answer.text) as { id: string }
    ids[kind].push(id)
    acknowledged.push({ kind, id, body: answer.text })
    return true
  }

  function forget(kind: 'customers' | 'tickets', id: string): void {
    const at = ids[kind].indexOf(id)
    if (at >= 0) ids[kind].splice(at, 1)
  }

  /** A row's id: of the first three, of the last three, or any. */
  function pick(kind: 'customers' | 'tickets', among: 'hot' | 'new' | 'all', dice: () => number) {
    const list = ids[kind]
    const from = among === 'new' ? Math.max(0, list.length - 3) : 0
    const to = among === 'hot' ? Math.min(3, list.length) : list.length
    return list[from + Math.floor(dice() * (to - from))]
  }

  async function write(call: Call, dice: () => number): Promise<boolean> {
    const n = ++serial
    const does = dice()
    const kind = dice() < 0.5 ? 'customers' : 'tickets'
    if (does < 0.2 || ids.customers.length < 3) {
      const email = dice() < 0.1 ? `same${n % 10}@example.com` : `c${n}@example.com`
      return post(call, 'customers', { name: `c${n}`, email })
    }
    if (does < 0.5) {
      const customerId = pick('customers', dice() < 0.7 ? 'new' : 'all', dice)
      return post(call, 'tickets', { subject: `t${n}`, customerId, tags: [`n${n % 7}`] })
    }
    const removes = does >= 0.8
    const among = removes ? (dice() < 0.6 ? 'new' : 'all') : dice() < 0.7 ? 'hot' : 'all'
    const id = pick(kind, among, dice)
    if (id === undefined) return true
    const path = `/v1/${kind}/${id}`
    const answer = removes
      ? await ask(call, 'DELETE', path)
      : await ask(call, 'PATCH', path, kind === 'customers' ? { company: `n${n}` } : { subject: `n${n}` })
    // Others may still change it; from here on another row is hot.
    if (removes || answer === null) forget(kind, id)
    if (answer) acknowledged.push({ kind, id, body: removes ? null : answer.text })
    return answer !== undefined
  }

  return {
    acknowledged,
    posts,
    tally,
    get inFlight() {
      return inFlight
    },
    get maxInFlight() {
      return maxInFlight
    },
    write,
  }
}

/** Numbers from 0 up to 1 that depend on the seed alone. */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Acknowledged changes that are missing: as a row at least as new, and as an event of that version. */
export async function lost(
  pool: Pool,
  organizationId: string,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const rows = new Map<string, string>()
  for (const table of ['customers', 'tickets'])
    for (const { id, at, removed } of await tableRecords(pool, table, organizationId))
      rows.set(id, removed ? 'removed' : at)
  const events = new Map<string, string | null>()
  for (const event of await eventsOf(pool, organizationId))
    events.set(`${event.subject_id} ${event.type.endsWith('.deleted') ? 'removed' : event.at}`, event.body)

  return acknowledged.flatMap(({ id, body }) => {
    const at = body === null ? 'removed' : recordOf(body).at
    const row = rows.get(id)
    if (row === undefined || row < at) return [`${id} is at ${row}, acknowledged at ${at}`]
    const event = events.get(`${id} ${at}`)
    // Payloads about removed objects are erased.
    const told = body === null || event === body || (event === null && row === 'removed')
    return event !== undefined && told ? [] : [`no event of ${id} at ${at}`]
  })
}
