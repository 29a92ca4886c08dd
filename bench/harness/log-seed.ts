/**
 * A delivery log by the million in SQL: one endpoint, thirty days, most deliveries succeeded, some failed, a few
 * pending. Rows are as the service writes them, without events, which readers of the log do not use.
 */
import { Client } from 'pg'
import { makeLogWeeks } from '../../packages/service/src/retention/log-weeks.ts'
import type { Installation, Organization } from './installation.ts'

interface SeededLog extends Organization {
  readonly webhookId: string
  readonly rows: number
}

const day = 24 * 60 * 60 * 1000
/** The log's retention, without an hour. */
const span = 30 * day - day / 24
/** Rows of one statement. */
const step = 500_000

/** A new organization with one endpoint at this address, and so many deliveries. */
export async function seedLog(installation: Installation, address: string, rows: number): Promise<SeededLog> {
  const organization = await installation.newOrganization()
  const webhookId = await register(installation.service.url, organization, address)
  const now = Date.now()
  // The partitions that the service would have created.
  for (let at = now - span; at < now; at += day) await makeLogWeeks(installation.pool, at)
  const client = new Client(installation.connection)
  await client.connect()
  try {
    for (let from = 1; from <= rows; from += step) {
      const to = Math.min(from + step - 1, rows)
      const values = [organization.organizationId, webhookId, now - span, span / rows, from, to]
      await client.query(insertStatement, values)
    }
    await client.query('vacuum (analyze) deliveries')
  } finally {
    await client.end()
  }
  return { ...organization, webhookId, rows }
}

/** One in a thousand is pending, one in two hundred failed, one in twenty thousand of a rare type. */
const insertStatement = `
  insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at, subject_kind,
      subject_id, status, payload, attempt_count, max_attempts, response_status, last_error_code, last_error_message,
      duration_ms, last_attempt_at, next_attempt_at, delivered_at, created_at, updated_at)
    select $1, new_uuid_v7(r.at), $2,
        case when r.status = 'pending' then 'infinity' else (r.at at time zone 'UTC')::date end, new_uuid_v7(r.at),
        case when r.n % 20000 = 7 then 'ticket.deleted' when r.n % 9 = 0 then 'customer.updated' else 'customer.created' end,
        r.at, 'customer', gen_random_uuid(), r.status, 'current', 1, 6, case when r.status = 'succeeded' then 200 else 503 end,
        case when r.status <> 'succeeded' then 'non_2xx' end, case when r.status <> 'succeeded' then 'answered 503' end, 40,
        r.at, case when r.status = 'pending' then r.at + interval '60 days' end,
        case when r.status = 'succeeded' then r.at end, r.at, r.at
      from (select n, to_timestamp(($3::float8 + n * $4::float8) / 1000)::timestamptz(3) as at,
          case when n % 1000 = 7 then 'pending' when n % 200 = 3 then 'failed' else 'succeeded' end as status
        from generate_series($5::bigint, $6::bigint) as n) r`

async function register(service: string, { token }: Organization, url: string): Promise<string> {
  const response = await fetch(`${service}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    // It gets no deliveries of its own meanwhile.
    body: JSON.stringify({ url, events: ['ticket.deleted'] }),
  })
  if (response.status !== 201) throw new Error(`a webhook was refused: ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}
