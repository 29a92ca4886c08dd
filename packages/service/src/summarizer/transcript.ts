/** The input of a summary: the messages in order, with their authors, as plain text of limited length. */

import type { Pool } from 'pg'
import type { Message } from '../desk/message/fields.ts'
import { message } from '../desk/message/index.ts'
import { timestampText } from '../journal/body.ts'
import type { ReferringExpectation } from '../journal/change.ts'
import { parseRepresentation, type StoredBody } from '../kinds/model/representation.ts'
import { cutText, plainText } from './plain-text.ts'

export interface TranscriptMessage {
  readonly by: Message['author']['type']
  readonly text: string
}

export interface Transcript {
  readonly subject: string | null
  readonly messages: readonly TranscriptMessage[]
  /** Whether something in the middle was left out. */
  readonly abridged: boolean
}

/** Characters of text, and of the source text including markup. */
interface TextLimits {
  readonly text: number
  readonly markup: number
}

/** The question is at the beginning, the answer at the end. */
const beginning: TextLimits = { text: 6_000, markup: 24_000 }
const ending: TextLimits = { text: 18_000, markup: 48_000 }
const messageLimit = 16_000

/** As many messages as fit from the beginning and from the end. `abridged`: some were not read. */
export function transcriptOf(
  subject: string | null,
  messages: readonly Message[],
  abridged: boolean,
): Transcript {
  const sorted = messages.toSorted((a, b) => compare(a.sentAt ?? '', b.sentAt ?? ''))
  const first = fill(sorted, beginning)
  const rest = sorted.slice(first.said.length)
  const last = fill(rest.toReversed(), ending)
  return {
    subject,
    messages: [...first.said, ...last.said.toReversed()].filter(({ text }) => text !== ''),
    abridged: abridged || first.cut || last.cut || last.said.length < rest.length,
  }
}

/** As many whole messages as fit; always the first one, shortened if necessary. */
function fill(
  messages: readonly Message[],
  limits: TextLimits,
): { readonly said: readonly TranscriptMessage[]; readonly cut: boolean } {
  const said: TranscriptMessage[] = []
  let { text: left, markup } = limits
  let cut = false
  for (const message of messages) {
    const looked = Math.min(message.body?.length ?? 0, messageLimit)
    if (said.length > 0 && looked > markup) break
    const text = textOf(message)
    if (said.length > 0 && text.length > left) break
    cut ||= text.length > left || (message.body?.length ?? 0) > messageLimit
    said.push({ by: message.author.type, text: cutText(text, left) })
    left -= text.length
    markup -= looked
  }
  return { said, cut }
}

export function summaryWithoutText({ subject }: Transcript): string {
  return subject?.trim() || 'The conversation has no messages with words in them.'
}

function textOf({ body, contentType, attachments }: Message): string {
  const text = plainText((body ?? '').slice(0, messageLimit).toWellFormed(), contentType ?? 'text')
  if (text !== '' || attachments.length === 0) return text
  return `Attached: ${attachments.map(({ fileName }) => fileName).join(', ')}.`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Messages that are read: the first ones have the topic, the last ones the outcome. */
const firstRead = 20
const lastRead = 60

interface ReadMessages {
  readonly messages: readonly Message[]
  readonly abridged: boolean
  /** What must still hold when a summary of them commits: it repeats no message that was deleted meanwhile. */
  readonly unchanged: ReferringExpectation
}

/** Reads first what a commit checks, so that whatever changes between the statements refuses the summary. */
export async function readMessages(
  pool: Pool,
  organizationId: string,
  conversationId: string,
): Promise<ReadMessages> {
  const read = async (order: 'asc' | 'desc', limit: number) => {
    const { rows } = await pool.query<StoredBody & { id: string }>({
      name: `read_messages_${order}`,
      text: `select m.id, m.body, m.body_version as version from messages m
               where m.organization_id = $1 and m.conversation_id = $2 and m.removed_at is null
               order by m.created_at ${order}, m.id ${order} limit ${limit}`,
      values: [organizationId, conversationId],
    })
    return rows
  }
  const { rows } = await pool.query<{ count: number; latest: string | null }>({
    name: 'count_messages',
    text: `select count(*)::int as count, ${timestampText('max(m.updated_at)')} as latest from messages m
             where m.organization_id = $1 and m.conversation_id = $2 and m.removed_at is null`,
    values: [organizationId, conversationId],
  })
  const { count = 0, latest = null } = rows[0] ?? {}
  const [first, last] = await Promise.all([read('asc', firstRead), read('desc', lastRead)])
  const bodies = new Map([...first, ...last.toReversed()].map((row) => [row.id, row]))
  const complete = first.length < firstRead || bodies.size < first.length + last.length
  return {
    messages: [...bodies.values()].map(
      (row) => parseRepresentation(message, row).state as unknown as Message,
    ),
    abridged: !complete,
    unchanged: { table: message.table, column: 'conversation_id', id: conversationId, count, latest },
  }
}

export type Summarized =
  | { readonly outcome: 'written'; readonly summary: string }
  /** `reason` is for the log: it contains no message text. */
  | {
      readonly outcome: 'failed'
      readonly reason: string
      /** Milliseconds that the endpoint asks clients to wait. */
      readonly retryAfter: number | null
    }

/** Rejects only when `stop` is aborted. */
export type Summarize = (transcript: Transcript, stop: AbortSignal) => Promise<Summarized>
