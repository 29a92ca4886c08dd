/** Rules of what a sync reports, and in which order. */
import { checkpointOf, contentDigestOf } from '@deskwire/sdk'
import {
  beginning,
  copyOf,
  type Desk,
  justBefore,
  names,
  placeOf,
  type Row,
  type Rule,
  type StreamRecord,
} from './desk.ts'
import { require, requireSame } from './rule.ts'

/** Some tickets, one of them changed and one removed, and the stream of that as it has to be. */
async function someTickets(desk: Desk) {
  const { id: customerId } = await desk.customer()
  const made: Row[] = []
  for (let n = 0; n < 7; n++) made.push(await desk.ticket(customerId))
  const [first, second, third] = made as [Row, Row, Row]
  await desk.change(`/tickets/${second.id}`, { subject: 'Changed' })
  await desk.remove(`/tickets/${third.id}`)
  const rest = made.filter((row) => row !== second && row !== third)
  const stream = [...names(rest), `ticket ${second.id}`, `removed ${third.id}`]
  const ids = new Set(made.map(({ id }) => id))
  return {
    customerId,
    since: justBefore(first),
    stream,
    removed: third,
    of: <R extends StreamRecord>(records: readonly R[]) => records.filter(({ id }) => ids.has(id)),
  }
}

export const syncRules: readonly Rule[] = [
  {
    id: 'sync.order',
    says: 'A sync is ordered by updatedAt (of a removal removedAt), oldest first, and by id within it.',
    section: 'Sync',
    async check(desk) {
      const { since } = await someTickets(desk)
      const places = (await desk.drain('/tickets', since, 3)).records.map(placeOf)
      const wrong = places.findIndex((place, n) => n > 0 && (places[n - 1] as string) >= place)
      require(wrong === -1, () => `${places[wrong]} comes after ${places[wrong - 1]}`)
    },
  },
  {
    id: 'sync.complete',
    says: 'Created, changed and removed rows are reported, each once and at its last place, at every page size.',
    section: 'Sync',
    async check(desk) {
      const { since, stream, of } = await someTickets(desk)
      for (const limit of [1, 2, 3, 100]) {
        const { records } = await desk.drain('/tickets', since, limit)
        requireSame(`with limit=${limit}`, names(of(records)), stream)
      }
    },
  },
  {
    id: 'sync.removal-record',
    says: 'A removal record is object "removed", id, resource and removedAt, and nothing else.',
    section: 'Sync',
    async check(desk) {
      const { since, removed } = await someTickets(desk)
      const { records } = await desk.drain('/tickets', since)
      const [record] = records.filter(({ object, id }) => object === 'removed' && id === removed.id)
      require(record !== undefined, () => 'the removal is not reported')
      requireSame('its fields', Object.keys(record).toSorted(), ['id', 'object', 'removedAt', 'resource'])
      requireSame('resource', record.resource, 'ticket')
      const { removedAt = '' } = record
      require(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(removedAt), () => `removedAt is ${removedAt}`)
      require(removedAt > removed.updatedAt, () => `removed at ${removedAt}, changed at ${removed.updatedAt}`)
    },
  },
  {
    id: 'sync.cascade',
    says: "Deleting a customer removes the customer's tickets, and each removal is in its own resource's sync.",
    section: 'Sync',
    async check(desk) {
      const customer = await desk.customer()
      const tickets = [await desk.ticket(customer.id), await desk.ticket(customer.id)]
      await desk.remove(`/customers/${customer.id}`)
      const removals = async (path: string, ids: readonly string[]) =>
        names((await desk.drain(path, justBefore(customer))).records.filter(({ id }) => ids.includes(id)))
      const ids = tickets.map(({ id }) => id)
      requireSame('customers', await removals('/customers', [customer.id]), [`removed ${customer.id}`])
      requireSame(
        'tickets',
        (await removals('/tickets', ids)).toSorted(),
        ids.map((id) => `removed ${id}`).toSorted(),
      )
    },
  },
  {
    id: 'sync.at-once',
    says: 'What was answered with success is in the very next call of a sync.',
    section: 'Sync',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      let { cursor } = await desk.drain('/tickets', justBefore(await desk.ticket(customerId)))
      for (let n = 0; n < 10; n++) {
        const made = await desk.ticket(customerId)
        const next = await desk.drain('/tickets', { cursor })
        const found = next.records.some(({ id, updatedAt }) => id === made.id && updatedAt === made.updatedAt)
        require(found, () => `ticket ${made.id}, made a moment before, is not reported`)
        cursor = next.cursor
      }
    },
  },
  {
    id: 'sync.watermark',
    says: 'updatedAfter is exclusive, takes any offset, and anything but a time is 400.',
    section: 'Sync',
    async check(desk) {
      const made = await desk.customer()
      const reported = async (updatedAfter: string) =>
        (await desk.drain('/customers', { updatedAfter })).records.some(({ id }) => id === made.id)
      const at = Date.parse(made.updatedAt)
      require(!(await reported(made.updatedAt)), () => 'a row is reported after its own updatedAt')
      require(await reported(new Date(at - 1).toISOString()), () =>
        'a row is not reported from a millisecond before')
      const shifted = new Date(at - 1 + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30')
      require(await reported(shifted), () => `a row is not reported from ${shifted}`)
      for (const updatedAfter of ['yesterday', '2026-01-31', '2026-01-31T09:30:00', '']) {
        const { status, json } = await desk.call('GET', '/customers', { updatedAfter })
        requireSame(`updatedAfter=${updatedAfter}`, [status, json?.code], [400, 'invalid_parameter'])
      }
    },
  },
  {
    id: 'sync.future-watermark',
    says: 'A watermark later than the latest change is read as that change: what comes next is not lost.',
    section: 'Sync',
    async check(desk) {
      await desk.customer()
      const { cursor } = await desk.drain('/customers', { updatedAfter: '2999-01-01T00:00:00Z' })
      const made = await desk.customer()
      const { records } = await desk.drain('/customers', { cursor })
      require(records.some(({ id }) => id === made.id), () =>
        `customer ${made.id}, made after a sync from 2999, is not reported`)
    },
  },
  {
    id: 'sync.first',
    says: 'A first sync does not replay removals from before it, and reports those that happen while it runs.',
    section: 'Sync',
    async check(desk) {
      const gone = await desk.customer()
      await desk.remove(`/customers/${gone.id}`)
      const kept = await desk.customer()
      const { records, cursor } = await desk.drain('/customers', beginning)
      requireSame('one removed before', names(records.filter(({ id }) => id === gone.id)), [])
      requireSame('one that exists', names(records.filter(({ id }) => id === kept.id)), [
        `customer ${kept.id}`,
      ])
      await desk.remove(`/customers/${kept.id}`)
      const later = (await desk.drain('/customers', { cursor })).records.filter(({ id }) => id === kept.id)
      requireSame('one removed after', names(later), [`removed ${kept.id}`])
    },
  },
  {
    id: 'sync.checkpoint',
    says: 'The last page, and no other, carries count and digests of what exists: a copy that began empty has the same.',
    section: 'The checkpoint',
    async check(desk) {
      await someTickets(desk)
      for (const path of ['/customers', '/tickets']) {
        const { records, pages } = await desk.drain(path, beginning)
        const rows = copyOf(records)
        for (const { pagination } of pages) {
          requireSame('checkpoint and hasMore', pagination.checkpoint === undefined, pagination.hasMore)
          requireSame('offset', pagination.offset, 0)
        }
        const last = pages.at(-1)?.pagination
        const checkpoint = { ...(await checkpointOf(rows)), contentDigest: await contentDigestOf(rows) }
        requireSame(`the checkpoint of ${path}`, last?.checkpoint, checkpoint)
        requireSame(`the total of ${path}`, last?.total, rows.length)
      }
    },
  },
]
