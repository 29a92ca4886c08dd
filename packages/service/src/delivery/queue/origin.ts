/** Who caused an event: members that an envelope has where its reader asks for them (specification 5.3). */
import { readJson } from '@deskwire/sdk/json'
import { grants } from '../../auth/scopes.ts'
import type { Cause } from '../../journal/change.ts'
import type { StreamTable } from '../../journal/stream-table.ts'

const actingTable = (tables: readonly StreamTable[]) => tables.find(({ canAct }) => canAct)

/**
 * SQL: of an event `e`, as `originMembers` reads it. A key that was revoked, or a teammate that was deleted, has no
 * name.
 */
export function originOf(tables: readonly StreamTable[]): string {
  const acting = actingTable(tables)
  const actingName =
    acting === undefined
      ? 'null'
      : `(select t.body::jsonb->>'name' from ${acting.name} t where t.organization_id = e.organization_id
            and t.id = (e.cause->>'actingFor')::uuid and t.removed_at is null)`
  return `json_build_array(e.cause, (select k.name from api_keys k where k.organization_id = e.organization_id
          and k.id = (e.cause->>'key')::uuid), ${actingName})::text`
}

/** Whether a reader with these scopes is shown names: those who may read teammates. */
export function showsNames(tables: readonly StreamTable[], scopes: readonly string[]): boolean {
  return grants(scopes, `${actingTable(tables)?.name}:read`)
}

/** An origin for a reader with these scopes. */
export function readableOrigin(
  tables: readonly StreamTable[],
  scopes: readonly string[],
  origin: string | null,
): string | null {
  if (origin === null || showsNames(tables, scopes)) return origin
  const [cause] = readJson(origin) as [cause: Cause | null]
  return JSON.stringify([cause, null, null])
}

/**
 * The members, as JSON with a comma after them. Null: nobody asked for them. The key or session that called is the
 * actor; the teammate that it named is a claim of its own, which anybody with the key could make.
 */
export function originMembers(text: string | null): string {
  if (text === null) return ''
  const [cause, keyName, actingName] = readJson(text) as [Cause | null, string | null, string | null]
  const actingFor = cause?.actingFor
  const claim =
    actingFor === undefined
      ? ''
      : `"onBehalfOf":${JSON.stringify({ type: 'teammate', id: actingFor, name: actingName })},`
  return `"actor":${JSON.stringify(actorOf(cause, keyName))},${claim}"requestId":${JSON.stringify(cause?.request ?? null)},`
}

function actorOf(cause: Cause | null, name: string | null) {
  if (cause === null) return { type: 'system', id: null, name: null }
  if (cause.session !== undefined) return { type: 'session', id: cause.session, name }
  return { type: 'api_key', id: cause.key, name }
}
