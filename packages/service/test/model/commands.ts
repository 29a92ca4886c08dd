/** What may happen to a desk, as commands of fast-check: each does it to the model and to the service, and compares. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Answer } from '../../../testbed/service.ts'
import { type Command, named } from './command.ts'
import { read } from './reads.ts'
import { type Entry, type ModelKind, type Source, type StreamModel, timeText } from './stream-model.ts'
import { waitWhile } from './waits.ts'

const which = fc.nat({ max: 50 })
const follower = fc.nat({ max: 2 })
const hour = 3_600_000

/** The kinds of the followers: one of everything, and two of one kind each. */
export const sources: readonly Source[] = ['changes', 'ticket', 'conversation']

/** What happens to the desk, and to its clock. */
const happenings = [
  fc
    .constantFrom('customer', 'customer', 'conversation', 'ticket', 'booking')
    .chain((kind) => which.map((n) => create(kind as Exclude<ModelKind, 'message'>, n))),
  which.map((n) => message(n)),
  which.map((n) => change(n)),
  which.map((n) => changeNothing(n)),
  which.map((n) => remove('ticket', n)),
  which.map((n) => remove('customer', n)),
  which.map((n) => remove('conversation', n)),
  which.map((n) => erase(n)),
  fc.integer({ min: 1, max: 6 }).map((count) => batch(count)),
  fc.constantFrom(0, 1, 1_000, hour, -hour, 26 * hour, -7 * hour).map((by) => stepClock(by)),
]

export const commands = [
  ...happenings,
  ...[1, 2, 3, 4].map(() => follower.map((n) => read(n, 'next'))),
  fc.tuple(follower, fc.constantFrom(1, 2, 5, 100)).map(([n, limit]) => read(n, 'next', limit)),
  follower.map((n) => read(n, 'again')),
  follower.map((n) => read(n, 'watermark')),
  follower.map((n) => read(n, 'start')),
  ...(['cursor', 'watermark', 'ahead'] as const).map((from) =>
    fc.tuple(follower, fc.oneof(...happenings)).map(([n, other]) => waitWhile(n, from, other)),
  ),
  fc.constant(restart()),
]

/** To begin with: something of everything, and followers in the middle of it, with a removal behind and one before them. */
export function furniture(): Command[] {
  const some = [1, 2, 3].flatMap((n) => [
    create('customer', n),
    create('ticket', n),
    create('conversation', n),
  ])
  const first = [remove('ticket', 1), ...sources.map((_, n) => read(n, 'start', 1))]
  return [...some, create('booking', 1), message(1), ...first, remove('customer', 1)]
}

/** Of two objects of a kind the first is picked as often as all others, so that it is changed again and again. */
function pick(entries: readonly Entry[], n: number): Entry | undefined {
  return entries[n % 2 === 0 ? 0 : n % Math.max(entries.length, 1)]
}

/** A commit's answer is what the model knows from now on; its stamp is the one that the model gives. */
function committed(model: StreamModel, kind: ModelKind, { status, text, json }: Answer): void {
  expect([200, 201], text).toContain(status)
  expect(json.updatedAt).toBe(timeText(model.stamp()))
  model.put(kind, text)
}

function create(kind: Exclude<ModelKind, 'message'>, n: number): Command {
  const bodies = {
    customer: () => ({ name: `c${n}` }),
    conversation: (customerId: string) => ({ customerId, channel: 'chat' }),
    ticket: (customerId: string, on: object) => ({ customerId, ...on, subject: `t${n}` }),
    booking: (customerId: string, on: object) => ({
      customerId,
      ...on,
      title: `b${n}`,
      startAt: '2026-04-01T09:00:00Z',
      endAt: '2026-04-01T10:00:00Z',
      timezone: 'UTC',
    }),
  }
  return named(`create ${kind} ${n}`, {
    check: (model) => kind === 'customer' || model.existing('customer').length > 0,
    async run(model, { api }) {
      const customer = pick(model.existing('customer'), n)
      const conversation = n % 3 === 0 ? undefined : pick(model.existing('conversation'), n)
      const on = conversation === undefined ? {} : { conversationId: conversation.id }
      committed(model, kind, await api.post(`/v1/${kind}s`, bodies[kind](customer?.id ?? '', on)))
    },
  })
}

function message(n: number): Command {
  return named(`message ${n}`, {
    check: (model) => model.existing('conversation').length > 0,
    async run(model, { api, clock }) {
      const conversation = pick(model.existing('conversation'), n) as Entry
      const body = {
        conversationId: conversation.id,
        direction: 'outbound',
        author: { type: 'ai' },
        body: `m${n}`,
      }
      committed(model, 'message', await api.post('/v1/messages', body))
      const { lastMessageAt } = JSON.parse(conversation.body) as { lastMessageAt: string | null }
      const sentAt = timeText(clock.now())
      if (lastMessageAt === null || sentAt > lastMessageAt) {
        model.move(conversation, { lastMessageAt: sentAt }, model.clock)
      }
    },
  })
}

/** Objects that a PATCH may change. */
function changeable(model: Pick<StreamModel, 'existing'>): Entry[] {
  return (['customer', 'conversation', 'ticket', 'booking'] as const).flatMap((kind) => model.existing(kind))
}

function change(n: number): Command {
  return named(`change ${n}`, {
    check: (model) => changeable(model).length > 0,
    async run(model, { api }) {
      const { kind, id } = pick(changeable(model), n) as Entry
      const tags = [`at ${model.clock}`]
      committed(model, kind, await api.patch(`/v1/${kind}s/${id}`, { tags }))
    },
  })
}

function changeNothing(n: number): Command {
  return named(`change nothing ${n}`, {
    check: (model) => changeable(model).length > 0,
    async run(model, { api }) {
      const { kind, id, body } = pick(changeable(model), n) as Entry
      const { tags } = JSON.parse(body) as { tags: string[] }
      const answer = await api.patch(`/v1/${kind}s/${id}`, { tags })
      expect(answer.text).toBe(body)
    },
  })
}

function remove(kind: 'ticket' | 'customer' | 'conversation', n: number): Command {
  return named(`remove ${kind} ${n}`, {
    check: (model) => model.existing(kind).length > 0,
    async run(model, { api }) {
      const gone = pick(model.existing(kind), n) as Entry
      expect((await api.delete(`/v1/${kind}s/${gone.id}`)).status).toBe(204)
      model.remove(gone)
    },
  })
}

function erase(n: number): Command {
  return named(`erase ${n}`, {
    check: (model) => model.existing('customer').length > 0,
    async run(model, { api }) {
      const gone = pick(model.existing('customer'), n) as Entry
      const { status, json } = await api.post(`/v1/customers/${gone.id}/erase`, undefined)
      const count = model.remove(gone, { erases: true })
      const removed = Object.values(json.removed as Record<string, number>).reduce((sum, one) => sum + one, 0)
      expect([status, json.erasedAt, removed]).toEqual([200, timeText(model.clock), count])
    },
  })
}

function batch(count: number): Command {
  return named(`batch of ${count}`, {
    check: () => true,
    async run(model, { api }) {
      const items = Array.from({ length: count }, (_, n) => ({ name: `b${n}` }))
      const { json } = await api.post('/v1/customers/batch', { items })
      const at = timeText(model.stamp())
      for (const { id } of json.data) {
        const { text, json: made } = await api.get(`/v1/customers/${id}`)
        expect(made.updatedAt).toBe(at)
        model.put('customer', text)
      }
    },
  })
}

function stepClock(by: number): Command {
  return named(`the clock steps by ${by}`, {
    check: () => true,
    run: async (_, { clock }) => clock.advance(by),
  })
}

function restart(): Command {
  return named('restart', { check: () => true, run: (_, real) => real.restart() })
}
