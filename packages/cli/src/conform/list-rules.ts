/** Rules of lists that are browsed. */
import { names, type Row, type Rule } from './desk.ts'
import { require, requireSame, short } from './rule.ts'

export const listRules: readonly Rule[] = [
  {
    id: 'list.newest-first',
    says: 'A list is ordered by createdAt, newest first, and by id within it.',
    section: 'Lists',
    async check(desk) {
      const made: Row[] = []
      for (let n = 0; n < 4; n++) made.push(await desk.customer())
      const { data } = await desk.page('/customers', { tag: desk.tag, limit: 100 })
      const places = data.map(({ createdAt, id }) => `${createdAt} ${id}`)
      requireSame('the order', places, places.toSorted().toReversed())
      const ids = new Set(made.map(({ id }) => id))
      const found = data.filter(({ id }) => ids.has(id)).map(({ id }) => id)
      requireSame('the rows just made', found.toSorted(), [...ids].toSorted())
    },
  },
  {
    id: 'list.limit',
    says: 'limit is 20 unless given, one above 100 is served as 100, and one that is no whole number from 1 on is 400.',
    section: 'Lists',
    async check(desk) {
      const served = async (query: { limit?: number }) =>
        (await desk.page('/customers', query)).pagination.limit
      requireSame('without limit', await served({}), 20)
      requireSame('limit=7', await served({ limit: 7 }), 7)
      requireSame('limit=101', await served({ limit: 101 }), 100)
      for (const limit of ['0', '-1', '1.5', 'ten', '']) {
        const { status, json } = await desk.call('GET', '/customers', { limit })
        requireSame(`limit=${limit}`, [status, json?.code], [400, 'invalid_parameter'])
      }
    },
  },
  {
    id: 'list.offset',
    says: 'offset pages through a list without repeating or leaving out a row, and total counts them all.',
    section: 'Lists',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      for (let n = 0; n < 5; n++) await desk.ticket(customerId)
      const ids: string[] = []
      for (let offset = 0; offset < 6; offset += 2) {
        const { data, pagination } = await desk.page('/tickets', { customerId, limit: 2, offset })
        ids.push(...data.map(({ id }) => id))
        requireSame('total', pagination.total, 5)
        requireSame('offset', pagination.offset, offset)
        requireSame(`hasMore at offset ${offset}`, pagination.hasMore, offset + 2 < 5)
      }
      requireSame('different rows of 5', [ids.length, new Set(ids).size], [5, 5])
    },
  },
  {
    id: 'list.ids',
    says: 'ids reads the rows that it names in one page, newest first, and leaves out those that do not exist; more than 100 are 400.',
    section: 'Filters',
    async check(desk) {
      const [first, gone, last] = [await desk.customer(), await desk.customer(), await desk.customer()]
      await desk.customer()
      await desk.remove(`/customers/${gone.id}`)
      const ids = [first, gone, last].map(({ id }) => id)
      const { data, pagination } = await desk.page('/customers', { ids: ids.join(',') })
      const places = [first, last].map(({ createdAt, id }) => `${createdAt} ${id}`)
      const found = data.map(({ createdAt, id }) => `${createdAt} ${id}`)
      requireSame('the rows', found, places.toSorted().toReversed())
      requireSame('total and hasMore', [pagination.total, pagination.hasMore], [2, false])
      const tooMany = Array.from({ length: 101 }, () => first.id).join(',')
      const { status, json } = await desk.call('GET', '/customers', { ids: tooMany })
      requireSame('101 ids', [status, json?.code], [400, 'invalid_parameter'])
    },
  },
  {
    id: 'list.unknown-parameter',
    says: 'A query parameter that there is not is 400, and named.',
    section: 'Lists',
    async check(desk) {
      const { status, text, json } = await desk.call('GET', '/customers', { conform: 'x' })
      requireSame('the answer', [status, json?.code], [400, 'invalid_parameter'])
      require(text.includes('conform'), () => `it does not name the parameter: ${short(text)}`)
    },
  },
  {
    id: 'list.no-removals',
    says: 'Only a sync has removals and a cursor: a list shows existing rows.',
    section: 'Lists',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      const [kept, gone] = [await desk.ticket(customerId), await desk.ticket(customerId)]
      await desk.remove(`/tickets/${gone.id}`)
      const { data, pagination } = await desk.page('/tickets', { customerId })
      requireSame('the list', names(data), [`ticket ${kept.id}`])
      requireSame('nextCursor', pagination.nextCursor, undefined)
      const { status } = await desk.call('GET', `/tickets/${gone.id}`)
      requireSame('GET of a removed ticket', status, 404)
    },
  },
  {
    id: 'list.same-bytes',
    says: 'A row is the same bytes in GET, in a list and in a sync.',
    section: 'Lists',
    async check(desk) {
      const { id: customerId } = await desk.customer()
      const ticket = await desk.ticket(customerId)
      const { text } = await desk.call('GET', `/tickets/${ticket.id}`)
      const list = await desk.page('/tickets', { customerId })
      require(list.text.includes(text), () => `the list has not the bytes of GET: ${short(list.text)}`)
      const since = new Date(Date.parse(ticket.updatedAt) - 1).toISOString()
      const { pages } = await desk.drain('/tickets', { updatedAfter: since })
      require(pages.some((page) => page.text.includes(text)), () =>
        'no page of the sync has the bytes of GET')
    },
  },
]
