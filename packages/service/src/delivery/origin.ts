/** Who caused an event: members that an envelope has where its reader asks for them (specification 5.3). */
import { readJson } from '@deskwire/sdk/json'
import type { Cause } from '../journal/change.ts'
import type { StreamTable } from '../journal/stream-table.ts'

/** SQL: of an event `e`, as `originMembers` reads it. A key that was revoked, or a teammate that was deleted, has no name. */
export function originOf(tables: readonly StreamTable[]): string {
  const acting = tables.find(({ canAct }) => canAct)
  const actingName =
    acting === undefined
      ? 'null'
      : `(select t.body::jsonb->>'name' from ${acting.name} t where t.organization_id = e.organization_id
            and t.id = (e.cause->>'actingFor')::uuid and t.removed_at is null)`
  return `json_build_array(e.cause, case when e.cause ? 'actingFor' then ${actingName}
        else (select k.name from api_keys k where k.organization_id = e.organization_id
          and k.id = (e.cause->>'key')::uuid) end)::text`
}

/** The members, as JSON with a comma after them. Null: nobody asked for them. */
export function originMembers(text: string | null): string {
  if (text === null) return ''
  const [cause, name] = readJson(text) as [cause: Cause | null, name: string | null]
  return `"actor":${JSON.stringify(actorOf(cause, name))},"requestId":${JSON.stringify(cause?.request ?? null)},`
}

function actorOf(cause: Cause | null, name: string | null) {
  if (cause === null) return { type: 'system', id: null, name: null }
  if (cause.actingFor !== undefined) return { type: 'teammate', id: cause.actingFor, name }
  if (cause.session !== undefined) return { type: 'session', id: cause.session, name }
  return { type: 'api_key', id: cause.key, name }
}
