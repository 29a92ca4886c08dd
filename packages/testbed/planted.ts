/** Endpoints and backlogs by the thousand, written straight into the database, as the API would take too long. */
import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { createSecretBox } from '../service/src/delivery/endpoint/secrets.ts'
import { newId } from '../service/src/kernel/ids.ts'
import { deliverySettings } from './delivery-settings.ts'

interface PlantedEndpoint {
  readonly id: string
  readonly url: string
}

/**
 * Creates `urls.length` endpoints of one organization, each with `backlog` removals due since `now` (milliseconds),
 * padded to `bytes`. The organization's first key registered them.
 */
export async function plant(
  pool: Pool,
  options: {
    readonly organizationId: string
    /** Default: the key of the tests' services. */
    readonly encryptionKey?: Buffer
    readonly urls: readonly string[]
    readonly backlog: number
    readonly now: number
    readonly bytes?: number
  },
): Promise<readonly PlantedEndpoint[]> {
  const { organizationId, urls, backlog, now, bytes = 200 } = options
  const box = createSecretBox(options.encryptionKey ?? deliverySettings.encryptionKey)
  const endpoints = urls.map((url) => ({ id: newId({ now: () => now }), url }))
  const ids = endpoints.map(({ id }) => id)
  const sealed = ids.map((webhookId) => {
    const secret = `whsec_${randomBytes(32).toString('base64url')}`
    return box.seal(secret, { organizationId, webhookId }).toString('hex')
  })
  const at = new Date(now).toISOString()
  const ask = (text: string, ...values: unknown[]) => pool.query(text, [organizationId, at, ids, ...values])
  await ask(
    `insert into webhooks (organization_id, id, url, events, status, api_key_id, created_at, updated_at)
       select $1, w.id, w.url, '{customer.created,customer.deleted}', 'active',
           (select k.id from api_keys k where k.organization_id = $1 order by k.id limit 1), $2, $2
         from unnest($3::uuid[], $4::text[]) as w(id, url)`,
    urls,
  )
  await ask(
    `insert into webhook_secrets (organization_id, webhook_id, id, sealed, created_at)
       select $1, w.id, gen_random_uuid(), decode(w.sealed, 'hex'), $2 from unnest($3::uuid[], $4::text[]) as w(id, sealed)`,
    sealed,
  )
  await ask(
    `insert into webhook_health (organization_id, webhook_id) select $1, w.id from unnest($3::uuid[]) as w(id) where $2 <> ''`,
  )
  await ask(
    `with gone as (
        insert into customers (organization_id, id, created_at, updated_at, removed_at, body)
          select $1, new_uuid_v7($2::timestamptz), $2::timestamptz, $2::timestamptz, $2::timestamptz, '{"object":"removed","padding":"' || repeat('x', $5) || '"}'
            from generate_series(1, $4::int)
          returning id, body),
      told as (
        insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
          select $1, new_uuid_v7($2::timestamptz), 'customer.deleted', $2::timestamptz, 'customer', g.id, g.body from gone g
          returning id, subject_id)
      insert into deliveries (organization_id, id, webhook_id, log_day, event_id, event_type, event_created_at,
          subject_kind, subject_id, status, payload, attempt_count, max_attempts, next_attempt_at, created_at, updated_at)
        select $1, new_uuid_v7($2::timestamptz), w.id, 'infinity', t.id, 'customer.deleted', $2::timestamptz, 'customer', t.subject_id, 'pending',
            'current', 0, 6, $2::timestamptz, $2::timestamptz, $2::timestamptz
          from told t cross join unnest($3::uuid[]) as w(id)`,
    backlog,
    bytes,
  )
  await ask(
    `insert into endpoint_queues (organization_id, webhook_id, due_at)
       select $1, w.id, case when $4 then $2::timestamptz end from unnest($3::uuid[]) as w(id)`,
    backlog > 0,
  )
  return endpoints
}
