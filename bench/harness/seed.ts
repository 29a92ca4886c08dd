/**
 * Customers by the million in SQL, exactly as the service would have created them: the service's own functions make
 * bodies and columns, and clock, counters and digests are written with the rows. `assertExact` compares them with what
 * a client sees.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Customer, checkpointOf, contentDigestOf, createClient } from '@deskwire/sdk'
import { Client } from 'pg'
import { customer } from '../../packages/service/src/desk/customer/index.ts'
import { timestampText } from '../../packages/service/src/journal/body.ts'
import { columnValues, representationHead } from '../../packages/service/src/kinds/model/representation.ts'
import { changedSearchDocument } from '../../packages/service/src/kinds/model/search.ts'
import type { Installation, Organization } from './installation.ts'

export interface Seeded extends Organization {
  /** Existing rows. */
  readonly live: number
  /** Removal records, evenly among them. */
  readonly removed: number
  /** The stamp before the first row. Stamps are a millisecond apart. */
  readonly began: number
}

/** Rows of one statement. */
const step = 500_000
/** From here on, rebuilding indexes is cheaper than maintaining them, and an analyze is worthwhile. */
const manyRows = 40_000
/**
 * Beyond, rows have no search documents, which no page of the stream reads: they would multiply time and size by five.
 */
const maxWorded = 2_000_000

/** A new organization with so many rows and removal records. */
export async function seed(
  installation: Pick<Installation, 'connection' | 'newOrganization'>,
  { live, removed = 0 }: { readonly live: number; readonly removed?: number },
): Promise<Seeded> {
  const organization = await installation.newOrganization()
  const rows = live + removed
  const began = Date.now() - rows - 60_000
  const client = new Client(installation.connection)
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    await client.query("set maintenance_work_mem = '512MB'")
    await client.query(
      'update organizations set created_at = to_timestamp($2 / 1000.0) where organization_id = $1',
      [organization.organizationId, began],
    )
    const indexes = rows < manyRows ? [] : await dropIndexes(client)
    const statement = insertStatement(organization.organizationId, rows <= maxWorded)
    for (let from = 1; from <= rows; from += step) {
      const to = Math.min(from + step - 1, rows)
      await client.query(statement.text, [...statement.values, began, from, to, live, rows])
    }
    for (const index of indexes) await client.query(index)
    if (rows >= manyRows) await client.query('vacuum (analyze) customers, customers_words')
  } finally {
    await client.end()
  }
  return { ...organization, live, removed, began }
}

/** Returns their definitions. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexname as name, i.indexdef as definition from pg_indexes i
       where i.tablename in ('customers', 'customers_words') and i.indexname not like '%\\_pkey'`,
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows.map(({ definition }) => definition)
}

/** Stands for a row's number: more digits than an id can have in a row. */
const numberMark = '8888888888888'
const idMark = '@id@'
const timeMark = '@time@'

/** Inserts rows number $from to $to; `$live` of the `$rows` rows exist, evenly spread. */
function insertStatement(organizationId: string, worded: boolean): { text: string; values: unknown[] } {
  const state = {
    name: `Ada Lovelace ${numberMark}`,
    company: 'Analytical Engines Limited',
    email: `ada.${numberMark}@example.com`,
    phone: null,
    locale: 'en-GB',
    timezone: 'Europe/London',
    externalId: `crm-${numberMark}`,
    tags: ['vip', 'newsletter'],
    customAttributes: { plan: 'team', seats: 25 },
  }
  const identity = { id: idMark, organizationId, createdAt: timeMark }
  const values: unknown[] = [organizationId, representationHead(customer, identity, state, false)]
  const own = Object.entries(columnValues(customer, state))
  const columns = own.map(([name, value]) => {
    const type = customer.table.columns.find((column) => column.name === name)?.type ?? 'text'
    const parameter = `$${values.push(value)}::${type}`
    const filled = type === 'text' ? `replace(${parameter}, '${numberMark}', r.n::text)` : parameter
    return `case when r.live then ${filled} end`
  })
  const words = worded ? insertedWords(state, values) : ''
  const [began, from, to, live, rows] = [1, 2, 3, 4, 5].map((n) => `$${values.length + n}::bigint`)
  const text = `with r as materialized (
      select g.n, new_uuid_v7(g.at) as id, g.at, ${timestampText('g.at')} as time,
        g.n * ${live} / ${rows} > (g.n - 1) * ${live} / ${rows} as live
      from (select n, to_timestamp((${began} + n) / 1000.0)::timestamptz(3) as at
        from generate_series(${from}, ${to}) as n) g),
    added as (
      insert into customers (organization_id, id, created_at, updated_at, removed_at, body, ${own.map(([name]) => name).join(', ')})
        select $1, r.id, r.at, r.at, case when not r.live then r.at end,
          case when r.live
            then replace(replace(replace($2, '${idMark}', r.id::text), '${timeMark}', r.time), '${numberMark}', r.n::text)
              || body_tail(r.at)
            else removal_record('customer', r.id, r.at) end,
          ${columns.join(', ')}
        from r
        returning removed_at is null as live, octet_length(body) as bytes, content_term(body) as content),${words}
    counted as (
      insert into commits (organization_id, stamp, kind, live_count, digest, content_digest, stored_bytes, removed_count,
          last_number)
        select $1, (select max(r.at) from r), 'customer', coalesce(c.live_count, 0) + n.live,
            coalesce(c.digest, 0) + n.digest, coalesce(c.content_digest, 0) + n.content,
            coalesce(c.stored_bytes, 0) + n.bytes, coalesce(c.removed_count, 0) + n.removed, 0
          from (select count(*) filter (where r.live) as live, count(*) filter (where not r.live) as removed,
              coalesce(sum(version_term(r.id, r.time)) filter (where r.live), 0) as digest,
              (select coalesce(sum(a.bytes), 0) from added a where a.live) as bytes,
              (select coalesce(sum(a.content), 0) from added a where a.live) as content
            from r) n
        left join kind_counters c on c.organization_id = $1 and c.kind = 'customer')
    select 1`
  return { text, values }
}

/** The rows' search documents, as a part of the statement; adds its values to `values`. */
function insertedWords(state: Readonly<Record<string, unknown>>, values: unknown[]): string {
  const found = changedSearchDocument(customer, timeMark, null, state)
  const terms = `$${values.push(found?.terms ?? '')}::text`
  return `
    found as (
      insert into customers_words (organization_id, id, created_at, terms)
        select $1, r.id, r.at, replace(${terms}, '${numberMark}', r.n::text) from r where r.live),`
}

/** Throws unless a first sync finds what was seeded, with a matching checkpoint. */
export async function assertExact(installation: Installation, seeded: Seeded): Promise<void> {
  const client = createClient({ baseUrl: `${installation.service.url}/v1`, apiKey: seeded.token })
  const rows: Customer[] = []
  for await (const page of client.customers.sync({ limit: 100 })) {
    for (const change of page.changes) if (change.type === 'upsert') rows.push(change.row)
    if (page.checkpoint === undefined) continue
    const held = { ...(await checkpointOf(rows)), contentDigest: await contentDigestOf(rows) }
    const { count } = page.checkpoint
    if (held.count !== seeded.live || !isDeepStrictEqual(held, page.checkpoint)) {
      throw new Error(`seeded ${seeded.live} rows; the service says ${count}, a client has ${held.count}`)
    }
  }
}
