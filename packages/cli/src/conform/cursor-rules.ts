/** Rules of cursors, of waiting, and of the stream over all kinds. */
import { beginning, type Desk, justBefore, names, placeOf, type Rule } from './desk.ts'
import { require, requireSame } from './rule.ts'

/** Milliseconds that an answer may be late after what it waited for, in a network that is slow. */
const slack = 10_000

async function refusal(desk: Desk, path: string, query: Record<string, string>): Promise<unknown[]> {
  const { status, json } = await desk.call('GET', path, query)
  return [status, json?.code]
}

export const cursorRules: readonly Rule[] = [
  {
    id: 'cursor.repeats',
    says: 'A cursor is a place: used again, it answers its page again, and it stays valid after catching up.',
    section: 'Sync',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      const first = await desk.ticket(customerId)
      const { cursor } = await desk.drain('/tickets', justBefore(first))
      const [a, b] = [await desk.ticket(customerId), await desk.ticket(customerId)]
      const ids = [a.id, b.id]
      for (let n = 0; n < 3; n++) {
        const { records } = await desk.drain('/tickets', { cursor }, 1)
        const found = records.filter(({ id }) => ids.includes(id)).map(({ id }) => id)
        requireSame(`use ${n + 1} of a cursor`, found, ids)
      }
    },
  },
  {
    id: 'cursor.wins',
    says: 'cursor wins when updatedAfter is sent as well.',
    section: 'Sync',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      const { cursor } = await desk.drain('/tickets', justBefore(await desk.ticket(customerId)))
      const made = await desk.ticket(customerId)
      for (const updatedAfter of [made.updatedAt, beginning.updatedAfter]) {
        const { data } = await desk.page('/tickets', { cursor, updatedAfter, limit: 100 })
        const mine = data.filter((record) => record.customerId === customerId)
        requireSame(`with updatedAfter=${updatedAfter}`, names(mine), [`ticket ${made.id}`])
      }
    },
  },
  {
    id: 'cursor.invalid',
    says: 'A cursor with any character changed, or of another list, is 400 invalid_cursor.',
    section: 'Sync',
    async check(desk) {
      const { cursor } = await desk.drain('/customers', justBefore(await desk.customer()))
      const wanted = [400, 'invalid_cursor']
      requireSame('of another list', await refusal(desk, '/tickets', { cursor }), wanted)
      requireSame('cut short', await refusal(desk, '/customers', { cursor: cursor.slice(0, -1) }), wanted)
      requireSame('made up', await refusal(desk, '/customers', { cursor: 'cursor' }), wanted)
      for (let at = 0; at < cursor.length; at += 13) {
        const other = cursor[at] === 'A' ? 'B' : 'A'
        const altered = cursor.slice(0, at) + other + cursor.slice(at + 1)
        requireSame(
          `with character ${at + 1} changed`,
          await refusal(desk, '/customers', { cursor: altered }),
          wanted,
        )
      }
    },
  },
  {
    id: 'sync.no-filters',
    says: 'Filters, and an offset other than 0, beside a sync parameter are 400 filter_not_allowed_in_sync.',
    section: 'Sync',
    async check(desk) {
      const { cursor } = await desk.drain('/customers', justBefore(await desk.customer()))
      for (const start of [beginning, { cursor }]) {
        for (const [name, value] of Object.entries({ offset: '1', q: 'a', tag: desk.tag })) {
          const found = await refusal(desk, '/customers', { ...start, [name]: value })
          requireSame(`${Object.keys(start)[0]} and ${name}`, found, [400, 'filter_not_allowed_in_sync'])
        }
      }
    },
  },
  {
    id: 'sync.wait',
    says: 'With wait, an answer without news is held until there are some, and no longer than was asked.',
    section: 'Sync',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      const { cursor } = await desk.drain('/tickets', justBefore(await desk.ticket(customerId)))
      const began = performance.now()
      const waiting = desk.page('/tickets', { cursor, wait: 30, limit: 100 })
      const early = await Promise.race([waiting, quarterSecond()])
      // Somebody else's change ends it as well.
      require(early === null || early.data.length > 0, () => 'it is not held: an empty answer came at once')
      const made = await desk.ticket(customerId)
      let page = await waiting
      while (!page.data.some(({ id }) => id === made.id)) {
        const late = performance.now() - began > slack
        require(!late && page.data.length > 0, () => `ticket ${made.id} did not end the wait`)
        page = await desk.page('/tickets', { cursor: page.pagination.nextCursor ?? '', wait: 30, limit: 100 })
      }
      const took = Math.round(performance.now() - began)
      require(took < slack, () => `a change was told of after ${took} ms only`)
    },
  },
  {
    id: 'changes.joined',
    says: 'GET /v1/changes is the streams of all kinds in one order under one cursor, with a checkpoint for each kind.',
    section: 'All kinds as one',
    async check(desk) {
      const customer = await desk.customer()
      const ticket = await desk.ticket(customer.id)
      await desk.remove(`/customers/${customer.id}`)
      const after = await desk.customer()
      const ids = [customer.id, ticket.id, after.id]
      const wanted = [`removed ${ticket.id}`, `removed ${customer.id}`, `customer ${after.id}`]
      for (const limit of [1, 100]) {
        const { records, pages } = await desk.drain('/changes', justBefore(customer), limit)
        const places = records.map(placeOf)
        requireSame(`the order with limit=${limit}`, places, places.toSorted())
        const found = names(records.filter(({ id }) => ids.includes(id)))
        requireSame(`with limit=${limit}`, found.toSorted(), wanted.toSorted())
        const checkpoint = pages.at(-1)?.pagination.checkpoint as Record<string, unknown> | undefined
        const has = ['customer', 'ticket'].every((kind) => typeof checkpoint?.[kind] === 'object')
        require(has, () => `the checkpoint is ${JSON.stringify(checkpoint)}`)
      }
    },
  },
]

function quarterSecond(): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, 250, null))
}
