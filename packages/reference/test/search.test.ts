/** What the search finds for everyday words. */
import { beforeAll, expect, test } from 'vitest'
import { apiModules } from '../../service/src/api-document.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { readDocuments } from '../src/documents.ts'
import { readReference } from '../src/reference.ts'
import { type SearchEntry, searchIndex } from '../src/search-index.ts'

type Found = readonly (readonly [sort: string, matches: readonly { entry: { address: string } }[]])[]
let search: (text: string) => string[]

beforeAll(async () => {
  const script = await import(new URL('../assets/search.js', import.meta.url).href)
  const rows: readonly SearchEntry[] = searchIndex(await readReference(apiModules(kinds)), readDocuments())
  const entries = script.prepare(rows)
  search = (text) =>
    (script.search(entries, text) as Found).flatMap(([, matches]) =>
      matches.map(({ entry }) => entry.address),
    )
})

test.each([
  ['gdpr', '/docs/guides/deleting-data.md'],
  ['delete personal data', '/docs/guides/deleting-data.md'],
  ['right to be forgotten', '/docs/guides/deleting-data.md'],
  ['retention', '/docs/guides/deleting-data.md'],
  ['ngrok', '/docs/guides/local-webhooks.md'],
  ['localhost', '/docs/guides/local-webhooks.md'],
  ['test webhooks locally', '/docs/guides/local-webhooks.md'],
  ['slack', '/docs/guides/receiving.md'],
  ['hmac', '/docs/guides/receiving.md'],
  ['verify webhook signature', '/docs/guides/receiving.md'],
  ['exactly once', '/docs/guides/handlers.md'],
  ['kubernetes', '/docs/guides/deploying.md'],
  ['k8s', '/docs/guides/deploying.md'],
  ['helm', '/docs/guides/deploying.md'],
  ['docker', '/docs/guides/deploying.md'],
  ['debian', '/docs/guides/installing.md'],
  ['rds', '/docs/guides/postgresql.md'],
  ['pgbouncer', '/docs/guides/postgresql.md'],
  ['failover', '/docs/guides/postgresql.md'],
  ['ssl certificate', '/docs/guides/proxy.md'],
  ['cors', '/docs/guides/proxy.md'],
  ['backfill', '/docs/guides/sync.md'],
  ['cdc', '/docs/guides/sync.md'],
  ['elasticsearch', '/docs/guides/sync.md'],
  ['snowflake', '/docs/guides/consumers.md'],
  ['bigquery', '/docs/guides/consumers.md'],
  ['zendesk', '/docs/guides/moving-in.md'],
  ['migrate from intercom', '/docs/guides/moving-in.md'],
  ['csv', '/docs/guides/moving-in.md'],
  ['time zones', '/docs/guides/bookings.md'],
  ['appointment', '/docs/guides/bookings.md'],
  ['handoff', '/docs/guides/conversations.md'],
  ['chatbot', '/docs/guides/conversations.md'],
  ['ticket states', '/docs/guides/tickets.md'],
  ['paging', '/docs/guides/lists.md'],
  ['full text search', '/docs/guides/lists.md'],
  ['idempotency', '/docs/guides/errors.md'],
  ['optimistic locking', '/docs/guides/errors.md'],
  ['multi-tenant', '/docs/guides/tenants.md'],
  ['openai', '/docs/guides/summaries.md'],
  ['authentication', '/docs/guides/keys.md'],
  ['backup', '/docs/guides/backup.md'],
  ['disaster recovery', '/docs/guides/backup.md'],
  ['zero downtime', '/docs/guides/upgrading.md'],
  ['prometheus', '/docs/guides/observing.md'],
  ['health check', '/docs/guides/observing.md'],
  ['sharding', '/docs/guides/databases.md'],
  ['quota', '/docs/guides/capacity.md'],
  ['swagger', '/docs/guides/clients.md'],
  ['getting started', '/docs/guides/quickstart.md'],
  ['not working', '/docs/guides/troubleshooting.md'],
  ['iframe', '/docs/guides/console.md'],
  ['lost update', '/docs/errors/version_mismatch'],
  ['resend failed webhooks', '/docs/api/recoverWebhook'],
  ['create tick', '/docs/api/createTicket'],
  ['PATCH /v1/tickets', '/docs/api/updateTicket'],
  ['status_changed', '/docs/events/ticket.status_changed'],
  ['reschedulecount', '/docs/objects/Booking'],
])('%s finds %s', (text, address) => {
  expect(search(text)[0]?.replace(/#.*/, '')).toBe(address)
})

test.each(['kubern', 'webh sig', 'how do I rotate a secret'])('%s, a beginning, finds something', (text) => {
  expect(search(text)).not.toEqual([])
})

test.each(['ubernetes', 'ebhook', 'dpr', '<img src=x onerror=alert(1)>', '…'])('%s finds nothing', (text) => {
  expect(search(text)).toEqual([])
})
