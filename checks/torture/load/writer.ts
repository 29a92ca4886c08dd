/**
 * Writers over HTTP: creations, changes of hot and cold rows, removals that cascade, messages that move their
 * conversation, batches. The text of each object names its request, and every request and response is recorded.
 */
import type { Operation } from '../history/format.ts'
import { type Recorder, versionOf } from './recorder.ts'

/** Rejects when there is no response. */
export type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
) => Promise<Answer>

export interface Answer {
  readonly status: number
  readonly text: string
}

interface BatchAnswer {
  readonly data: readonly { readonly status: number; readonly id?: string }[]
}

/** Of rows that exist, or did a moment ago. */
type Known = Record<'customer' | 'conversation' | 'ticket' | 'booking', string[]>

export interface Writers {
  /** Requests that succeeded. */
  readonly acknowledged: number
  /** Responses by status, and `unanswered`. */
  readonly tally: ReadonlyMap<string, number>
  /** One random request or batch. Never rejects. */
  write(call: Call, dice: () => number): Promise<void>
}

/** Writers forget further rows of a kind, so that all known ones are changed often. */
const maxKnown = 2_000

export function createWriters(recorder: Recorder): Writers {
  const known: Known = { customer: [], conversation: [], ticket: [], booking: [] }
  const tally = new Map<string, number>()
  let acknowledged = 0

  function tallyUp(what: string): void {
    tally.set(what, (tally.get(what) ?? 0) + 1)
  }

  /** Of requests that did not succeed: only a refusal is certain. */
  function settleOthers(n: number, answer: Answer | null): void {
    const refused = answer !== null && answer.status >= 400 && answer.status < 500
    recorder.write({ does: 'told', n, outcome: refused ? 'refused' : 'unknown' })
  }

  function settle(n: number, answer: Answer | null): boolean {
    tallyUp(answer === null ? 'unanswered' : String(answer.status))
    if (answer === null || answer.status >= 300) {
      settleOthers(n, answer)
      return false
    }
    acknowledged++
    const version = answer.text === '' ? {} : { version: versionOf(answer.text) }
    recorder.write({ does: 'told', n, outcome: 'done', ...version })
    return true
  }

  async function ask(
    call: Call,
    what: { readonly op: Operation; readonly kind: string; readonly id?: string; readonly touches?: string },
    request: (n: number) => Parameters<Call>,
  ): Promise<string | null> {
    const n = recorder.ask(what)
    const answer = await call(...request(n)).catch(() => null)
    return settle(n, answer) ? (answer?.text ?? null) : null
  }

  async function create(call: Call, kind: keyof Known, body: object): Promise<void> {
    const text = await ask(call, { op: 'create', kind }, (n) => [
      'POST',
      `/v1/${kind}s`,
      { ...body, ...words(n) },
    ])
    if (text !== null) remember(kind, (JSON.parse(text) as { id: string }).id)
  }

  function remember(kind: keyof Known, id: string): void {
    known[kind].push(id)
    if (known[kind].length > maxKnown) known[kind].splice(Math.floor(maxKnown / 2), 1)
  }

  function forget(kind: keyof Known, id: string): void {
    const at = known[kind].indexOf(id)
    if (at >= 0) known[kind].splice(at, 1)
  }

  /** One of the first three, of the last three, or any. */
  function pick(kind: keyof Known, dice: () => number): string | undefined {
    const list = known[kind]
    const among = dice()
    if (among < 0.3) return list[Math.floor(dice() * Math.min(3, list.length))]
    if (among < 0.5) return list.at(-1 - Math.floor(dice() * Math.min(3, list.length)))
    return list[Math.floor(dice() * list.length)]
  }

  async function createSomething(call: Call, dice: () => number): Promise<void> {
    const customerId = pick('customer', dice)
    const kind = dice()
    if (customerId === undefined || kind < 0.3) return create(call, 'customer', { name: 'c' })
    if (kind < 0.6) {
      const conversationId = dice() < 0.3 ? pick('conversation', dice) : undefined
      return create(call, 'ticket', { subject: 't', customerId, ...(conversationId && { conversationId }) })
    }
    if (kind < 0.75) return create(call, 'conversation', { channel: 'chat', customerId })
    if (kind < 0.85) return create(call, 'booking', { ...appointment, customerId })
    const touches = pick('conversation', dice)
    if (touches === undefined) return create(call, 'conversation', { channel: 'chat', customerId })
    const direction = dice() < 0.5 ? 'inbound' : 'outbound'
    const author = { type: direction === 'inbound' ? 'customer' : 'ai' }
    await ask(call, { op: 'create', kind: 'message', touches }, (n) => [
      'POST',
      '/v1/messages',
      { conversationId: touches, direction, author, body: `n${n}` },
    ])
  }

  /** Customers in one transaction: a recorded request an item. */
  async function createBatch(call: Call, count: number): Promise<void> {
    const asks = Array.from({ length: count }, () => recorder.ask({ op: 'create', kind: 'customer' }))
    const items = asks.map((n) => ({ name: 'b', ...words(n) }))
    const answer = await call('POST', '/v1/customers/batch', { items }).catch(() => null)
    const made = answer?.status === 200 ? (JSON.parse(answer.text) as BatchAnswer).data : []
    asks.forEach((n, at) => {
      const item = made[at]
      tallyUp(answer === null ? 'unanswered' : String(item?.status ?? answer.status))
      if (item?.id !== undefined && item.status === 201) {
        acknowledged++
        recorder.write({ does: 'told', n, outcome: 'done', id: item.id })
        remember('customer', item.id)
      } else settleOthers(n, answer)
    })
  }

  return {
    get acknowledged() {
      return acknowledged
    },
    tally,
    async write(call, dice) {
      const does = dice()
      if (does < 0.01) return createBatch(call, 5)
      if (does < 0.3 || known.customer.length < 5) return createSomething(call, dice)
      if (does < 0.34) {
        const kind = dice() < 0.25 ? 'customer' : 'ticket'
        const id = pick(kind, dice)
        if (id === undefined) return
        await ask(call, { op: 'remove', kind, id }, () => ['DELETE', `/v1/${kind}s/${id}`])
        forget(kind, id)
        return
      }
      const kind =
        (['customer', 'ticket', 'conversation', 'booking'] as const)[Math.floor(dice() * 4)] ?? 'ticket'
      const id = pick(kind, dice)
      if (id === undefined) return createSomething(call, dice)
      const done = await ask(call, { op: 'change', kind, id }, (n) => [
        'PATCH',
        `/v1/${kind}s/${id}`,
        words(n),
      ])
      if (done === null && kind === 'ticket') forget(kind, id)
    },
  }
}

const appointment = {
  title: 'b',
  startAt: '2026-04-01T09:00:00.000Z',
  endAt: '2026-04-01T10:00:00.000Z',
  timezone: 'UTC',
}

/** Makes an object's bytes those of one request. */
function words(n: number): object {
  return { customAttributes: { n } }
}
