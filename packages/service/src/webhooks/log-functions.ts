/**
 * Pages and totals of the delivery log. Functions, so that each connection plans them once, regardless of statistics: planning took longer
 * than reading, and a plan that sorts would read the whole log of a large endpoint. The log of all endpoints merges the latest rows of
 * each: an organization has few endpoints, and further indexes would slow down every delivery.
 */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { firstIdSince, rowIs } from '../delivery/log-rows.ts'
import { endpointsWith, joinEndpoint } from './table/endpoints.ts'
import type { DeliveryRow } from './webhook.ts'

/** The total is not counted beyond this (specification 11.1). */
export const countedAtMost = 10_000

const columnTypes: Readonly<Record<keyof DeliveryRow, string>> = {
  id: 'uuid',
  webhook_id: 'uuid',
  event_id: 'uuid',
  event_type: 'text',
  status: 'text',
  attempt_count: 'int',
  max_attempts: 'int',
  response_status: 'int',
  last_error_code: 'text',
  last_error_message: 'text',
  duration_ms: 'int',
  last_attempt_at: 'timestamptz',
  next_attempt_at: 'timestamptz',
  delivered_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
}

export const deliveryColumns: string = Object.keys(columnTypes)
  .map((name) => `d.${name}`)
  .join(', ')

/** Statuses to filter by: `undelivered` is pending or failed. */
export const logStatuses = ['pending', 'succeeded', 'failed', 'skipped', 'undelivered'] as const

const filters = [null, ...logStatuses].flatMap((status) => [
  { status, ofType: false },
  { status, ofType: true },
])

/** SQL of the latest rows of the log of an endpoint `w`: the columns to select, and the limit. */
type RowsSelect = (select: string, limit: string) => string

/**
 * SQL of the rows with these column values: a range of the index on these columns and the id. They are compared as a row and are part of
 * the order, so that only this index fits; with `=` for each, a planner that expects few rows may choose another.
 */
function selectRows(where: string, firstId: string, columns: Readonly<Record<string, string>>): RowsSelect {
  const row = [...Object.keys(columns), 'id'].map((name) => `d.${name}`)
  const bound = (id: string) => `(${[...Object.values(columns), id].join(', ')})`
  const lastId = `case when p_before is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
            else first_uuid_v7(greatest(p_before, 'epoch')) end`
  return (select, limit) => `select ${select} from deliveries d
        where d.organization_id = p_organization_id and d.webhook_id = w.id and ${where}
          and (${row.join(', ')}) >= ${bound(firstId)} and (${row.join(', ')}) <= ${bound(lastId)}
        order by ${row.map((name) => `${name} desc`).join(', ')} limit ${limit}`
}

/**
 * SQL of the log with this filter. The index by type separates completed deliveries by status. What succeeded, and what is pending, has no
 * index of its own: these rows are found in the order of their ids, among the others of the endpoint.
 */
function selectsOf({ status, ofType }: (typeof filters)[number]): readonly RowsSelect[] {
  const type = ofType ? { event_type: 'p_event_type' } : {}
  const pending = selectRows(
    ofType ? `${rowIs.pending} and d.event_type = p_event_type` : rowIs.pending,
    firstIdSince("greatest(p_after, 'epoch')"),
    {},
  )
  const since = 'greatest(p_since, p_after)'
  const completed = (where: string, columns: Readonly<Record<string, string>>) =>
    selectRows(`${rowIs.completed(since)}${where}`, firstIdSince(since), columns)
  const completedAs = (one: string) => {
    if (ofType) return completed('', { ...type, status: `'${one}'` })
    if (one === 'succeeded') return completed(` and d.status = 'succeeded'`, {})
    return completed(` and ${rowIs.indexedByStatus}`, { status: `'${one}'` })
  }
  if (status === 'pending') return [pending]
  if (status === 'undelivered') return [pending, completedAs('failed')]
  if (status !== null) return [completedAs(status)]
  return ofType
    ? [pending, ...['succeeded', 'failed', 'skipped'].map(completedAs)]
    : [pending, completed('', {})]
}

/** SQL of the log of one event. The order is that of the index by event, so that no other fits. */
const ofEvent = `select ${deliveryColumns} from deliveries d
          where d.organization_id = p_organization_id and d.event_id = p_event_id
            and (${rowIs.pending} or ${rowIs.completed('p_since')} and d.id >= ${firstIdSince('p_since')})
            and (p_webhook_id is null or d.webhook_id = p_webhook_id)
            and (p_status is null or d.status = p_status or p_status = 'undelivered' and d.status in ('pending', 'failed'))
            and (p_event_type is null or d.event_type = p_event_type)
            and (p_after is null or d.created_at > p_after) and (p_before is null or d.created_at < p_before)
          order by d.event_id desc, d.webhook_id desc`
const logOfEvent = `(${ofEvent}) d ${joinEndpoint('p_organization_id', 'd.webhook_id')}`

/** A statement for each filter, because each has its own index. */
function byFilter(eventStatement: string, statement: (parts: readonly RowsSelect[]) => string): string {
  const cases = filters.map(
    (filter) => `p_status is not distinct from ${filter.status === null ? 'null' : `'${filter.status}'`}
        and (p_event_type is not null) = ${filter.ofType} then
      ${statement(selectsOf(filter))}`,
  )
  return `#variable_conflict use_column
begin
  if p_event_id is not null then
      ${eventStatement}
  elsif ${cases.join('\n  elsif ')}
  end if;
end;`
}

/** SQL: for each requested endpoint `w` the rows of these parts, as `f`. A deleted endpoint has no log. */
const ofEach = (parts: readonly string[]) => endpointsWith(parts.join(' union all '))

const asked =
  'p_organization_id uuid, p_webhook_id uuid, p_status text, p_event_type text, p_since timestamptz, p_after timestamptz, p_before timestamptz, p_event_id uuid'
const settings = { plan_cache_mode: 'force_generic_plan', enable_sort: 'off' }

export const readLogFunction: SchemaFunction = schemaFunction(
  'read_log',
  {
    arguments: `${asked}, p_limit bigint, p_offset bigint`,
    returns: `table (${Object.entries(columnTypes)
      .map(([name, type]) => `${name} ${type}`)
      .join(', ')})`,
    settings,
  },
  // Finds the ids by index, and only then reads the rows, so that skipped rows are not read.
  byFilter(
    `return query select ${deliveryColumns} from ${logOfEvent} order by d.id desc limit p_limit offset p_offset;`,
    (parts) => {
      const found = parts.map(
        (some) => `select f.id, f.log_day from (${some('d.id, d.log_day', 'p_offset + p_limit')}) f`,
      )
      return `return query select ${deliveryColumns} from (
          select w.id as webhook_id, f.id, f.log_day from ${ofEach(found)}
            order by f.id desc limit p_limit offset p_offset) f
        cross join lateral (select ${deliveryColumns} from deliveries d where d.organization_id = p_organization_id
          and d.webhook_id = f.webhook_id and d.log_day = f.log_day and d.id >= f.id and d.id <= f.id order by d.id limit 1) d
        order by f.id desc;`
    },
  ),
)

export const countLogFunction: SchemaFunction = schemaFunction(
  'count_log',
  { arguments: asked, returns: 'bigint', settings },
  byFilter(
    `return (select count(*) from (select 1 from ${logOfEvent} limit ${countedAtMost + 1}) c);`,
    (parts) => {
      const found = parts.map((some) => `select 1 from (${some('1', String(countedAtMost + 1))}) f`)
      return `return (select count(*) from (select 1 from ${ofEach(found)} limit ${countedAtMost + 1}) c);`
    },
  ),
)

export const logFunctions: readonly SchemaFunction[] = [readLogFunction, countLogFunction]
