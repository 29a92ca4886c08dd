/** Types of openapi-typescript with openapi-fetch: list, create, batch, and a sync to the end. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

type Customer = components['schemas']['Customer']
type Query = NonNullable<paths['/v1/customers']['get']['parameters']['query']>

const { DESKWIRE_URL = '', DESKWIRE_API_KEY } = process.env
const api = createClient<paths>({
  baseUrl: DESKWIRE_URL,
  headers: { authorization: `Bearer ${DESKWIRE_API_KEY}` },
})
const beginning = '1970-01-01T00:00:00Z'

/** Applies changes to the copy, page by page; resolves to the last page's pagination. */
async function sync(copied: Map<string, Customer>, start: Query) {
  for (let query: Query = start; ; ) {
    const { data: page, error } = await api.GET('/v1/customers', {
      params: { query: { ...query, offset: 0 } },
    })
    if (page === undefined) throw new Error(error.detail)
    for (const record of page.data) {
      if (record.object === 'removed') copied.delete(record.id)
      else copied.set(record.id, record)
    }
    const { hasMore, nextCursor = '' } = page.pagination
    if (!hasMore) return page.pagination
    query = { cursor: nextCursor }
  }
}

const made = await api.POST('/v1/customers', {
  body: { name: 'Ada', tags: ['types'], customAttributes: { seats: 3, vip: true } },
})
const ada = made.data
check(ada !== undefined && 'customAttributes' in ada && ada.customAttributes.seats === 3, 'create')

const items = Array.from({ length: 120 }, (_, n) => ({ externalId: `types-${n}`, tags: ['types'] }))
const batch = await api.POST('/v1/customers/batch', { body: { operation: 'upsert', items } })
check(batch.data?.created === 120 && batch.data.data[119]?.outcome === 'created', 'batch')

const list = await api.GET('/v1/customers', { params: { query: { tag: 'types' } } })
check(list.data?.pagination.total === 121, 'list')

const copied = new Map<string, Customer>()
let end = await sync(copied, { updatedAfter: beginning })
check(end.checkpoint?.count === copied.size, 'the checkpoint counts the copy')
const removed = await api.DELETE('/v1/customers/{id}', { params: { path: { id: ada.id } } })
check(removed.response.status === 204, 'delete')
end = await sync(copied, { cursor: end.nextCursor ?? '' })
check(end.checkpoint?.count === copied.size && !copied.has(ada.id), 'what was deleted is gone')

let customers = 0
let query: NonNullable<paths['/v1/changes']['get']['parameters']['query']> = { updatedAfter: beginning }
for (let hasMore = true; hasMore; ) {
  const { data: page } = await api.GET('/v1/changes', { params: { query } })
  check(page !== undefined, 'changes')
  customers += page.data.filter((record) => record.object === 'customer').length
  query = { cursor: page.pagination.nextCursor }
  hasMore = page.pagination.hasMore
}
check(customers === copied.size, 'the stream of all kinds has them too')
console.log(`${copied.size} customers in the copy`)

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}
