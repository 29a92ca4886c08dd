/** The inbox (specification 6.5) in one statement, derived from conversations and messages: nothing of it is stored. */
import type { Database } from '../db/fair-pool.ts'
import { queryTextWithin } from '../db/text-query.ts'
import { conversation } from '../desk/conversation/index.ts'
import { timestampText } from '../journal/body.ts'
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

/** Characters of a message in `lastMessage.preview`. */
export const previewLength = 200

/** A page; `too_long` and `unknown` as in a list. Without `showsMessages` every `lastMessage` is null. */
export async function readInbox(
  { database, timeout }: { readonly database: Pick<Database, 'ofLong'>; readonly timeout: number },
  organizationId: string,
  query: InboxQuery,
  showsMessages: boolean,
  signal?: AbortSignal,
): Promise<InboxPage | 'too_long' | 'unknown'> {
  const { text, values } = inboxStatement(organizationId, query, showsMessages)
  const rows = await queryTextWithin(
    database.ofLong(organizationId, signal),
    timeout,
    text,
    values.map(String),
  )
  if (rows === 'too_long') return rows
  const [total, found, records, isKnown] = rows[0] ?? []
  if (Number(isKnown) === 0) return 'unknown'
  return { records: String(records ?? ''), total: Number(total), hasMore: Number(found) > query.limit }
}

/**
 * Its steps are materialized: the planner, which cannot know how many rows wait, would join all with all. Only open
 * conversations wait, so the last message of others is not looked up, except for the page. The body of a message
 * escapes quotes within texts, so the text that is searched for can only be its author.
 */
export function inboxStatement(
  organizationId: string,
  { limit, after, afterSince, awaitingReply, conditions }: InboxQuery,
  showsMessages: boolean,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [organizationId, limit]
  const open: Condition = { on: 'column', column: 'status', type: 'text', value: 'open' }
  const waits = awaitingReply === 'true'
  const found = foundRows(conversation, organizationId, [...conditions, ...(waits ? [open] : [])], values)
  const wanted = awaitingReply === null ? '' : `where i.since ${waits ? '<>' : '='} 'infinity'`
  let [place, follows] = ['', '']
  if (after !== null) {
    const id = `$${values.push(after)}::uuid`
    const since = `$${values.push(afterSince ?? 'infinity')}::timestamptz`
    // A removed row keeps its place.
    place = `place as materialized (
      select t.created_at from conversations t where t.organization_id = $1 and t.id = ${id}),
    `
    follows = `where i.since > ${since} or (i.since = ${since}
          and (i.created_at, i.id) < ((select p.created_at from place p), ${id}))`
  }
  const text = `with ${place}found as materialized (
      ${found}),
    known as materialized (
      select f.created_at, f.id, ${waits ? 'true' : "c.status = 'open'"} as is_open from found f
        ${waits ? '' : 'join conversations c on c.organization_id = $1 and c.id = f.id'}),
    waits as materialized (
      select k.created_at, k.id, coalesce(w.since, 'infinity') as since from known k
        left join lateral (
          select case when m.direction = 'inbound' then (m.body::json ->> 'sentAt')::timestamptz end as since
            from messages m where m.organization_id = $1 and k.is_open and m.conversation_id = k.id
              and m.removed_at is null and (m.direction = 'inbound' or strpos(m.body, '"author":{"type":"system"') = 0)
            order by m.created_at desc, m.id desc limit 1) w on true),
    inbox as materialized (select i.created_at, i.id, i.since from waits i ${wanted}),
    page as materialized (
      select i.created_at, i.id, i.since from inbox i ${follows}
        order by i.since, i.created_at desc, i.id desc limit $2::int + 1)
    select (select count(*) from inbox) as total, (select count(*) from page) as found,
      (select string_agg(
          '{"object":"inbox_entry","conversation":' || c.body
            || ',"lastMessage":' || coalesce(l.shown, 'null')
            || ',"awaitingReplySince":' || case when p.since = 'infinity' then 'null'
              else '"' || ${timestampText('p.since')} || '"' end || '}',
          ',' order by p.since, p.created_at desc, p.id desc)
        from (select i.created_at, i.id, i.since from page i order by i.since, i.created_at desc, i.id desc limit $2::int) p
          join conversations c on c.organization_id = $1 and c.id = p.id
          left join lateral (${showsMessages ? lastMessage : noMessage}) l on true) as records,
      ${after === null ? '1' : '(select count(*) from place)'} as is_known`
  return { text, values }
}

const noMessage = 'select null::text as shown'

const lastMessage = `select '{"id":"' || m.id || '","author":' || (m.body::json -> 'author')::text
              || ',"sentAt":' || (m.body::json -> 'sentAt')::text
              || ',"preview":' || to_json(left(coalesce(m.body::json ->> 'body', ''), ${previewLength}))::text || '}' as shown
            from messages m where m.organization_id = $1 and m.conversation_id = c.id and m.removed_at is null
            order by m.created_at desc, m.id desc limit 1`
