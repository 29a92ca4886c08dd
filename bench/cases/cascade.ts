/**
 * Deletes a customer that ten thousand rows refer to, while its organization and another one write: until the deletion
 * is answered, and then while workers create and send its deliveries.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const dependents = 10_000
/** In seconds. */
const afterwards = 10

const fates = {
  /** Conversations, messages and bookings lose the reference. */
  detached: fillDetached,
  /** Tickets are removed, with an event each. */
  removed: fillTickets,
}

export async function* cascade({ runs }: Scale): AsyncGenerator<Result> {
  for (const [fate, fill] of Object.entries(fates)) {
    for (const endpoints of [2, 50]) {
      const deletions: Run[] = []
      const own: Run[] = []
      const others: Run[] = []
      const ownThen: Run[] = []
      const othersThen: Run[] = []
      for (let run = 0; run < runs; run++) {
        const { milliseconds, writer, stranger, writerThen, strangerThen } = await deletion(endpoints, fill)
        deletions.push({ value: milliseconds })
        own.push({ value: writer.longest, ...percentiles(writer.waits) })
        others.push({ value: stranger.longest, ...percentiles(stranger.waits) })
        ownThen.push({ value: writerThen.longest, ...percentiles(writerThen.waits) })
        othersThen.push({ value: strangerThen.longest, ...percentiles(strangerThen.waits) })
      }
      const conditions = { dependents, endpoints }
      const then = { ...conditions, seconds: afterwards }
      const name = `cascade: delete a customer, ${dependents / 1_000}k rows ${fate}, ${endpoints} endpoints`
      yield summarize(name, 'ms', conditions, deletions)
      yield summarize(`${name}: longest wait of the organization's writers`, 'ms', conditions, own)
      yield summarize(`${name}: longest wait of another organization's`, 'ms', conditions, others)
      yield summarize(`${name}, and then: longest wait of the organization's writers`, 'ms', then, ownThen)
      yield summarize(`${name}, and then: longest wait of another organization's`, 'ms', then, othersThen)
    }
  }
}

/** How long it took, and how long writers waited meanwhile. */
async function deletion(endpoints: number, fill: (call: Call, customerId: string) => Promise<void>) {
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  const { service, receiver } = installation
  const [organization, another] = [await installation.newOrganization(), await installation.newOrganization()]
  const events = ['customer.deleted', 'ticket.deleted', 'customer.updated']
  await register(service.url, organization, receiver, { count: endpoints, events })
  const call = caller(service.url, organization)
  const { id } = await call('POST', '/v1/customers', { name: 'Ada' })
  await fill(call, id)
  const writer = await writing(call)
  const stranger = await writing(caller(service.url, another))
  const since = performance.now()
  await call('DELETE', `/v1/customers/${id}`)
  const milliseconds = performance.now() - since
  const [own, others] = [await writer.soFar(), await stranger.soFar()]
  await delay(afterwards * 1_000)
  return {
    milliseconds,
    writer: own,
    stranger: others,
    writerThen: await writer.stop(),
    strangerThen: await stranger.stop(),
  }
}

type Call = (method: string, path: string, body?: unknown) => Promise<{ id: string; data: { id: string }[] }>

function caller(url: string, { token }: Organization): Call {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
}

/** One client that changes a row of its own repeatedly. */
async function writing(call: Call) {
  const { id } = await call('POST', '/v1/customers', { name: 'Grace' })
  for (let n = 0; n < 50; n++) await call('PATCH', `/v1/customers/${id}`, { name: `warm ${n}` })
  const waits: number[] = []
  let going = true
  let underWay: Promise<unknown> = Promise.resolve()
  const loop = (async () => {
    for (let n = 0; going; n++) {
      const since = performance.now()
      underWay = call('PATCH', `/v1/customers/${id}`, { name: `Grace ${n}` }).then(() => {
        waits.push(performance.now() - since)
      })
      await underWay
    }
  })()
  /** Waits since the last call. */
  const taken = () => {
    const since = waits.splice(0)
    return { waits: since, longest: Math.max(...since) }
  }
  return {
    async soFar() {
      await underWay
      return taken()
    },
    async stop() {
      going = false
      await loop
      return taken()
    },
  }
}

async function fillTickets(call: Call, customerId: string): Promise<void> {
  await fillWith(call, 'tickets', dependents, (n) => ({ customerId, subject: `Ticket ${n}` }))
}

async function fillDetached(call: Call, customerId: string): Promise<void> {
  const share = Math.floor(dependents / 10)
  const of = { customerId, channel: 'email' }
  const conversations = await fillWith(call, 'conversations', 3 * share, (n) => ({
    ...of,
    subject: `C ${n}`,
  }))
  await fillWith(call, 'messages', 4 * share, (n) => ({
    conversationId: conversations[n % conversations.length],
    direction: 'outbound',
    author: { type: 'ai' },
    body: 'Thank you for your patience; the parcel is on its way. '.repeat(8),
  }))
  await fillWith(call, 'bookings', 3 * share, (n) => ({
    customerId,
    title: `Fitting ${n}`,
    startAt: '2026-02-02T09:00:00.000Z',
    endAt: '2026-02-02T09:30:00.000Z',
    timezone: 'Europe/Berlin',
  }))
}

/** Creates `count` objects, and returns their ids. */
async function fillWith(
  call: Call,
  plural: string,
  count: number,
  item: (n: number) => object,
): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const size = Math.min(1_000, count - ids.length)
    const items = Array.from({ length: size }, (_, n) => item(ids.length + n))
    const { data } = await call('POST', `/v1/${plural}/batch`, { items })
    ids.push(...data.map(({ id }) => id))
  }
  return ids
}
