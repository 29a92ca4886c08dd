/** The inbox (specification 6.5): a page, or its counts, in one statement each. */
import type { Database } from '../db/fair-pool.ts'
import { readStatements } from '../db/sql-file.ts'
import { queryTextWithin } from '../db/text-query.ts'
import { conversation } from '../desk/conversation/index.ts'
import { timestampText } from '../journal/body.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { foundRows } from '../kinds/http/browse.ts'
import type { Condition } from '../kinds/http/list-query.ts'

export interface InboxQuery {
  readonly limit: number
  /** The row that the page follows, and the `awaitingReplySince` that it had. */
  readonly after: string | null
  readonly afterSince: string | null
  readonly awaitingReply: 'true' | 'false' | null
  readonly conditions: readonly Condition[]
}

interface InboxPage {
  readonly records: string
  readonly total: number
  readonly hasMore: boolean
}

export interface InboxReader {
  readonly database: Pick<Database, 'of' | 'ofLong'>
  readonly clock: Clock
  /** Milliseconds that a statement may take. */
  readonly timeout: number
}

/** Characters of a message in `lastMessage.preview`. */
export const previewLength = 200

/** What is more is not counted. */
export const countedTo = 1_000

/** A page; `too_long` and `unknown` as in a list. Without `showsMessages` every `lastMessage` is null. */
export async function readInbox(
  { database, timeout }: InboxReader,
  organizationId: string,
  query: InboxQuery,
  showsMessages: boolean,
  signal?: AbortSignal,
): Promise<InboxPage | 'too_long' | 'unknown'> {
  const { text, values } = inboxStatement(organizationId, query, showsMessages)
  const connection = query.conditions.every(isInbox)
    ? database.of(organizationId, signal)
    : database.ofLong(organizationId, signal)
  const rows = await queryTextWithin(connection, timeout, text, values.map(String))
  if (rows === 'too_long') return rows
  const [total, found, records, isKnown] = rows[0] ?? []
  if (isKnown === 'f') return 'unknown'
  return { records: String(records ?? ''), total: Number(total), hasMore: Number(found) > query.limit }
}

/** A page walks an index, unless it has conditions that the inbox's rows lack: what meets those is found first. */
export function inboxStatement(
  organizationId: string,
  { limit, after, afterSince, awaitingReply, conditions }: InboxQuery,
  showsMessages: boolean,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [organizationId, limit]
  const elsewhere = conditions.filter((condition) => !isInbox(condition))
  let found = ''
  let matching = 'from inbox i where i.organization_id = $1'
  for (const condition of conditions.filter(isInbox))
    matching +=
      condition.on === 'null'
        ? ' and i.assignee_id is null'
        : ` and i.assignee_id = $${values.push(condition.value)}::uuid`
  if (awaitingReply !== null)
    matching += ` and i.awaiting_since ${awaitingReply === 'true' ? '<' : '='} 'infinity'`
  if (elsewhere.length > 0) {
    found = `found as materialized (
      ${foundRows(conversation, organizationId, elsewhere, values)}),
    `
    // Probes the primary key: the planner, which takes few rows for found, would compare each with each.
    matching += ' and i.conversation_id = any(array(select f.id from found f))'
  }
  const columns = 'select i.conversation_id as id, i.awaiting_since as since'
  const order = (row: string, since: string, id: string) => `order by ${row}.${since}, ${row}.${id} desc`
  const ordered = `${order('i', 'awaiting_since', 'conversation_id')} limit $2::int + 1`
  let page = `${columns} ${matching} ${ordered}`
  let isKnown = 'true'
  if (after !== null) {
    const id = `$${values.push(after)}::uuid`
    const since = `$${values.push(afterSince ?? 'infinity')}::timestamptz(3)`
    // One range of the index each: its two columns are in opposite orders.
    page = `(${columns} ${matching} and i.awaiting_since = ${since} and i.conversation_id < ${id} ${ordered})
        union all
        (${columns} ${matching} and i.awaiting_since > ${since} ${ordered})
        order by since, id desc limit $2::int + 1`
    isKnown = `exists (select 1 from conversations t where t.organization_id = $1 and t.id = ${id})`
  }
  const text = `with ${found}page as materialized (
      ${page})
    select (select count(*) from (select 1 ${matching} limit ${countedTo}) n) as total, (select count(*) from page) as found,
      (select string_agg(
          '{"object":"inbox_entry","conversation":' || c.body
            || ',"lastMessage":' || coalesce(l.shown, 'null')
            || ',"awaitingReplySince":' || case when p.since = 'infinity' then 'null'
              else '"' || ${timestampText('p.since')} || '"' end || '}',
          ',' ${order('p', 'since', 'id')})
        from (select i.id, i.since from page i ${order('i', 'since', 'id')} limit $2::int) p
          join conversations c on c.organization_id = $1 and c.id = p.id
          left join lateral (${showsMessages ? lastMessage : noMessage}) l on true) as records,
      ${isKnown} as is_known`
  return { text, values }
}

/** Whether the inbox's own rows have the column. */
function isInbox(condition: Condition): condition is Extract<Condition, { readonly on: 'column' | 'null' }> {
  return (condition.on === 'column' || condition.on === 'null') && condition.column === 'assignee_id'
}

const noMessage = 'select null::text as shown'

/** Those of one batch have one time of creation. */
const lastMessage = `select '{"id":"' || m.id || '","author":' || (m.body::json -> 'author')::text
              || ',"sentAt":' || (m.body::json -> 'sentAt')::text
              || ',"preview":' || to_json(left(coalesce(m.body::json ->> 'body', ''), ${previewLength}))::text || '}' as shown
            from messages m where m.organization_id = $1 and m.conversation_id = c.id and m.removed_at is null
              and m.created_at = (select n.created_at from messages n
                where n.organization_id = $1 and n.conversation_id = c.id and n.removed_at is null
                order by n.created_at desc limit 1)
            order by m.body::json ->> 'sentAt' desc, m.id desc limit 1`

/**
 * How many open conversations there are, of which wait, are unassigned, and are the teammate's; each counted to
 * `countedTo`.
 */
export async function countInbox(
  { database }: InboxReader,
  organizationId: string,
  assigneeId: string | null,
  signal?: AbortSignal,
): Promise<readonly [open: number, waiting: number, unassigned: number, assigned: number]> {
  const { rows } = await database.of(organizationId, signal).query<number[]>({
    text: countsStatement,
    values: [organizationId, assigneeId],
    rowMode: 'array',
  })
  const [open = 0, waiting = 0, unassigned = 0, assigned = 0] = rows[0] ?? []
  return [open, waiting, unassigned, assigned]
}

const countOf = (condition: string) =>
  `(select count(*)::int from (select 1 from inbox i where i.organization_id = $1${condition} limit ${countedTo}) n)`

export const countsStatement = `select ${[
  '',
  ` and i.awaiting_since < 'infinity'`,
  ' and i.assignee_id is null',
  ' and i.assignee_id = $2::uuid',
]
  .map(countOf)
  .join(',\n  ')}`

const files = [
  './inbox.sql',
  './inbox-since.sql',
  './inbox-conversation.sql',
  './inbox-message.sql',
  './inbox-removed-messages.sql',
  './inbox-triggers.sql',
] as const

export const inboxTable: readonly string[] = files.flatMap((file) => readStatements(import.meta.url, file))
