/** The payload that a delivery would have if it were sent now, by the same SQL as a claim (`claim.ts`). */
import type { Database } from '../../db/fair-pool.ts'
import { timestampText } from '../../journal/body.ts'
import type { StreamTable } from '../../journal/stream-table.ts'
import { endpointBody, joinEndpoint } from '../endpoints-table.ts'
import type { EndpointKey } from '../model.ts'
import { readOptions } from '../model.ts'
import { bodyOf } from '../queue/attempt.ts'
import { currentBody } from '../queue/claim.ts'
import { originOf, readableOrigin } from '../queue/origin.ts'

/**
 * The body, byte for byte, of the next attempt or (unless pending) of a retry; null when the subject or the delivery is
 * gone. Names of actors are left out for a reader without the scope for them.
 */
export type ReadPayload = (key: EndpointKey, id: string, scopes: readonly string[]) => Promise<string | null>

export function createReadPayload(
  database: Pick<Database, 'of'>,
  tables: readonly StreamTable[],
): ReadPayload {
  const never = ['ping', ...tables.flatMap(({ removedEvent }) => removedEvent ?? [])]
  const text = `select d.event_id as id, d.event_type as type, ${timestampText('d.event_created_at')} as "createdAt",
      w.options::text as options,
      case when w.options ? 'changedFields' then e.changed::text end as changed,
      case when w.options ? 'includeActor' then ${originOf(tables)} end as origin,
      (select k.scopes from api_keys k where k.organization_id = $1 and k.id = w.api_key_id) as registrant,
      case when d.event_type = 'ping' then '{}'
        when d.subject_kind = 'endpoint' then ${endpointBody}
        when d.status = 'pending' and d.payload = 'current' or d.event_type = any($4) then ${currentBody(tables)}
        when ${currentBody(tables)} is not null then e.body end as data
    from deliveries d ${joinEndpoint('$1', '$2')}
      left join events_with_body e on e.organization_id = d.organization_id and e.id = d.event_id
    where d.organization_id = $1 and d.webhook_id = $2 and d.id = $3`
  return async ({ organizationId, webhookId }, id, scopes) => {
    const { rows } = await database.of(organizationId).query<{
      id: string
      type: string
      createdAt: string
      data: string | null
      options: string | null
      changed: string | null
      origin: string | null
      registrant: readonly string[] | null
    }>(text, [organizationId, webhookId, id, never])
    const [row] = rows
    if (row === undefined) return null
    const sent = readableOrigin(tables, row.registrant ?? [], row.origin)
    const event = { ...row, origin: readableOrigin(tables, scopes, sent) }
    return bodyOf({ organizationId }, readOptions(row.options), event, row.data)
  }
}
