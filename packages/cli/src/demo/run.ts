/**
 * The demo: changes at a service, each seen twice, as a verified delivery and in the sync, with the same bytes; a
 * worker killed half-way; and a copy that proves itself exact at the end.
 */

import type { Client, Customer, Ticket } from '@deskwire/sdk'
import { clientOf, type Target } from '../client.ts'
import { CommandFailure } from '../failure.ts'
import type { KnownAuthority } from '../listen/authority.ts'
import { startReceiver } from '../listen/receiver.ts'
import { register, tryWithPing, unregister } from '../listen/register.ts'
import { plain, printError } from '../terminal.ts'
import { eventTypes } from '../triggers.ts'
import { type Arrival, Arrivals } from './arrivals.ts'
import { Follower } from './follower.ts'

/** What the demo has to tell, step by step. */
export type DemoProgress =
  | {
      readonly step: 'receiver'
      readonly url: string
      readonly webhookId: string
      readonly eventTypes: number
    }
  | Seen
  | { readonly step: 'killed'; readonly pid: number; readonly pending: number }
  | { readonly step: 'not killed' }
  | { readonly step: 'again'; readonly eventId: string; readonly times: number; readonly afterMs: number }
  | { readonly step: 'deleted'; readonly customerId: string }
  | { readonly step: 'exact'; readonly kind: string; readonly count: number; readonly digest: string }

/** Events of one type that arrived both ways. */
interface Seen {
  readonly step: 'event'
  readonly type: string
  readonly count: number
  /** From the change to the last of them at the receiver. */
  readonly ms: number
  /** Of all of them. */
  readonly bytes: number
  /** `updatedAt`, or `removedAt`, of the last of them. */
  readonly stamp: string
}

export interface DemoOptions {
  readonly target: Target
  readonly authority: KnownAuthority
  /** The worker that may be killed; null when it is not the demo's. */
  readonly workerPid: () => number | null
  readonly tell: (progress: DemoProgress) => void
  readonly signal: AbortSignal
}

/** Tickets on their way when the worker is killed. */
const burst = 12

/** @throws CommandFailure that says what did not arrive. */
export async function runDemo({ target, authority, workerPid, tell, signal }: DemoOptions): Promise<void> {
  const client = clientOf(target)
  const arrivals = new Arrivals(signal)
  const customers = new Follower<Customer>('customers', target, (source) => source.customers)
  const tickets = new Follower<Ticket>('tickets', target, (source) => source.tickets)
  let secret: string | null = null
  let unverified = 0
  let onDelivery = () => {}
  await using receiver = await startReceiver({
    certified: authority.issue(['127.0.0.1']),
    port: 0,
    secret: () => secret,
    receive(received) {
      onDelivery()
      if (!arrivals.take(received)) unverified += 1
      return 204
    },
  })
  const { caPath } = authority
  const endpoint = { url: receiver.url, events: eventTypes, caPath, description: 'deskwire demo' }
  const webhook = await register(client, endpoint)
  secret = webhook.secret
  await using _endpoint = { [Symbol.asyncDispose]: () => attempt(unregister(client, webhook.id)) }
  tell({ step: 'receiver', url: receiver.url, webhookId: webhook.id, eventTypes: eventTypes.length })
  await tryWithPing(client, webhook.id, caPath)
  await customers.catchUp()
  await tickets.catchUp()

  const ada = await client.customers.create({ name: 'Ada Lovelace' })
  const grace = await client.customers.create({ name: 'Grace Hopper' })
  const made = [ada, grace]
  // A service of somebody else's is left as it was found.
  await using _customers = { [Symbol.asyncDispose]: () => attempt(removeAll(client, made)) }
  await seen('customer.created', [ada.id, grace.id], ada.updatedAt, customers)

  const ticket = await client.tickets.create({ customerId: ada.id, subject: 'The engine halts' })
  await seen('ticket.created', [ticket.id], ticket.updatedAt, tickets)
  const changed = await client.tickets.update(ticket.id, { status: 'pending' })
  await seen('ticket.updated', [ticket.id], changed.updatedAt, tickets)
  await seen('ticket.status_changed', [ticket.id], changed.updatedAt, tickets, 'same pages')

  await killHalfWay(grace)

  await client.customers.delete(ada.id)
  made.shift()
  tell({ step: 'deleted', customerId: ada.id })
  const [removal] = (await customers.catchUp()).filter((change) => change.type === 'removed')
  const removedAt = removal?.removedAt ?? ''
  await seen('customer.deleted', [ada.id], removedAt, customers, 'same pages')
  await seen('ticket.deleted', [ticket.id], removedAt, tickets)

  if (unverified > 0) throw new CommandFailure(`${unverified} deliveries could not be verified`)
  for (const [kind, { copy }] of [
    ['customer', customers],
    ['ticket', tickets],
  ] as const) {
    tell({ step: 'exact', kind, ...copy.checkpoint })
  }

  /** Waits for these events, and compares the bytes that were delivered with those of the sync. */
  async function seen(
    type: string,
    ids: readonly string[],
    since: string,
    follower: Follower<Customer> | Follower<Ticket>,
    pages: 'new pages' | 'same pages' = 'new pages',
  ): Promise<Arrival[]> {
    const arrived = await Promise.all(ids.map((id) => arrivals.of(type, id)))
    if (pages === 'new pages') await follower.catchUp()
    for (const { event, data } of arrived) {
      if (!follower.has(data)) throw new CommandFailure(`${type} ${event.id} and the sync differ: ${data}`)
    }
    const last = arrived.at(-1) as Arrival
    const data = last.event.data as { updatedAt?: string; removedAt?: string }
    tell({
      step: 'event',
      type,
      count: arrived.length,
      ms: Math.max(0, ...arrived.map(({ at }) => at - Date.parse(since))),
      bytes: arrived.reduce((sum, one) => sum + Buffer.byteLength(one.data), 0),
      stamp: data.removedAt ?? data.updatedAt ?? '',
    })
    return arrived
  }

  /** Kills the worker while its first attempt waits for an answer, and sees that everything arrives all the same. */
  async function killHalfWay(customer: Customer): Promise<void> {
    let killedAt = 0
    onDelivery = () => {
      const pid = workerPid()
      if (killedAt > 0 || pid === null) return
      killedAt = Date.now()
      process.kill(pid, 'SIGKILL')
      tell({ step: 'killed', pid, pending: burst })
    }
    const subjects = Array.from({ length: burst }, (_, n) => `Card ${n + 1} is jammed`)
    const created = await Promise.all(
      subjects.map((subject) => client.tickets.create({ customerId: customer.id, subject })),
    )
    await Promise.all(created.map(({ id }) => arrivals.of('ticket.created', id)))
    onDelivery = () => {}
    if (killedAt === 0) tell({ step: 'not killed' })
    else {
      const { event, times } = await arrivals.repeated()
      tell({ step: 'again', eventId: event.id, times, afterMs: Date.now() - killedAt })
    }
    const ids = created.map(({ id }) => id)
    await seen('ticket.created', ids, created[0]?.createdAt ?? '', tickets)
  }
}

async function removeAll(client: Client, made: readonly Customer[]): Promise<void> {
  for (const { id } of made) await client.customers.delete(id)
}

/** Cleaning up must not hide why it is needed; what could not be done is said. */
async function attempt(work: Promise<void>): Promise<void> {
  await work.catch((error: Error) => printError(`deskwire: ${plain(error.message)}\n`))
}
