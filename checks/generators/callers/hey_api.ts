/** A client of @hey-api/openapi-ts: list, create, batch, and a sync to the end. */
import { createClient, createConfig } from './client/client/index.js'
import {
  batchCustomers,
  createCustomer,
  deleteCustomer,
  listChanges,
  listCustomers,
} from './client/sdk.gen.js'
import type { Customer, ListChangesData, ListCustomersData } from './client/types.gen.js'

type Query = NonNullable<ListCustomersData['query']>

const { DESKWIRE_URL = '', DESKWIRE_API_KEY } = process.env
const config = createConfig({ baseUrl: DESKWIRE_URL, auth: DESKWIRE_API_KEY, throwOnError: true })
const client = createClient(config)
const calls = { client, throwOnError: true } as const
const beginning = '1970-01-01T00:00:00Z'

/** Applies changes to the copy, page by page; resolves to the last page's pagination. */
async function sync(copied: Map<string, Customer>, start: Query) {
  for (let query: Query = start; ; ) {
    const { data: page } = await listCustomers({ ...calls, query: { ...query, offset: 0 } })
    for (const record of page.data) {
      if (record.object === 'removed') copied.delete(record.id)
      else copied.set(record.id, record)
    }
    const { hasMore, nextCursor = '' } = page.pagination
    if (!hasMore) return page.pagination
    query = { cursor: nextCursor }
  }
}

const body = { name: 'Ada', tags: ['hey'], customAttributes: { seats: 3, vip: true } }
const { data: ada } = await createCustomer({ ...calls, body })
check('customAttributes' in ada && ada.customAttributes.seats === 3, 'create')

const items = Array.from({ length: 120 }, (_, n) => ({ externalId: `hey-${n}`, tags: ['hey'] }))
const { data: batch } = await batchCustomers({ ...calls, body: { operation: 'upsert', items } })
check(batch.created === 120 && batch.data[119]?.outcome === 'created', 'batch')

const { data: list } = await listCustomers({ ...calls, query: { tag: 'hey' } })
check(list.pagination.total === 121, 'list')

const copied = new Map<string, Customer>()
let end = await sync(copied, { updatedAfter: beginning })
check(end.checkpoint?.count === copied.size, 'the checkpoint counts the copy')
const { response } = await deleteCustomer({ ...calls, path: { id: ada.id } })
check(response.status === 204, 'delete')
end = await sync(copied, { cursor: end.nextCursor ?? '' })
check(end.checkpoint?.count === copied.size && !copied.has(ada.id), 'what was deleted is gone')

let customers = 0
let query: NonNullable<ListChangesData['query']> = { updatedAfter: beginning }
for (let hasMore = true; hasMore; ) {
  const { data: page } = await listChanges({ ...calls, query })
  customers += page.data.filter((record) => record.object === 'customer').length
  query = { cursor: page.pagination.nextCursor }
  hasMore = page.pagination.hasMore
}
check(customers === copied.size, 'the stream of all kinds has them too')
console.log(`${copied.size} customers in the copy`)

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}
