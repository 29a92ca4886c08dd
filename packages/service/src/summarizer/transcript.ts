/** The input of a summary: the messages in order, with their authors, as plain text of limited length. */

import { clipped } from '@deskwire/sdk/clipped'
import { compile } from 'html-to-text'
import type { Pool } from 'pg'
import type { Message } from '../desk/message/fields.ts'
import { message } from '../desk/message/index.ts'
import { timestampText } from '../journal/body.ts'
import type { ReferringExpectation } from '../journal/change.ts'
import { parseRepresentation, type StoredBody } from '../kinds/model/representation.ts'

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
  const rest = sorted.slice(first.taken.length)
  const last = fill(rest.toReversed(), ending)
  return {
    subject,
    messages: [...first.taken, ...last.taken.toReversed()].filter(({ text }) => text !== ''),
    abridged: abridged || first.cut || last.cut || last.taken.length < rest.length,
  }
}

/** As many whole messages as fit; always the first one, shortened if necessary. */
function fill(
  messages: readonly Message[],
  limits: TextLimits,
): { readonly taken: readonly TranscriptMessage[]; readonly cut: boolean } {
  const taken: TranscriptMessage[] = []
  let { text: left, markup } = limits
  let cut = false
  for (const message of messages) {
    const looked = Math.min(message.body?.length ?? 0, messageLimit)
    if (taken.length > 0 && looked > markup) break
    const text = textOf(message)
    if (taken.length > 0 && text.length > left) break
    cut ||= text.length > left || (message.body?.length ?? 0) > messageLimit
    taken.push({ by: message.author.type, text: cutText(text, left) })
    left -= text.length
    markup -= looked
  }
  return { taken, cut }
}

export function summaryWithoutText({ subject }: Transcript): string {
  return subject?.trim() || 'The conversation has no messages with words in them.'
}

function textOf({ body, contentType, attachments }: Message): string {
  const text = plainText(clipped(body ?? '', messageLimit, ''), contentType ?? 'text')
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

import MarkdownIt from 'markdown-it'

type ContentType = 'text' | 'html' | 'markdown'

const aLine = { leadingLineBreaks: 1, trailingLineBreaks: 1 }

const selectors = [
  { selector: 'a', options: { ignoreHref: true } },
  { selector: 'img', format: 'skip' },
  { selector: 'title', format: 'skip' },
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  // Emails use tables for layout.
  ...['td', 'th'].map((selector) => ({ selector, format: 'block', options: aLine })),
]
// Limited, because markup can be nested deeper than the stack.
const options = { wordwrap: false, limits: { maxDepth: 100, ellipsis: '' } } as const
const quotesIncluded = compile({
  ...options,
  selectors: [...selectors, { selector: 'blockquote', format: 'block', options: aLine }],
})
const quotesLeftOut = compile({
  ...options,
  selectors: [...selectors, { selector: 'blockquote', format: 'skip' }],
})

// Of the tested parsers, the one that takes at most a tenth of a second for 16,000 malicious characters.
const markdown = new MarkdownIt({ html: true })

/** The text of a body, without quotes unless there is nothing else. */
export function plainText(body: string, contentType: ContentType): string {
  switch (contentType) {
    case 'text':
      return tidy(unwrapped(withoutQuotes(body)))
    case 'html':
      return readable(body)
    case 'markdown':
      return readable(markdown.render(body))
  }
}

function readable(html: string): string {
  return tidy(quotesLeftOut(html)) || tidy(quotesIncluded(html))
}

/** Removes quoted lines, unless there are no others. */
function withoutQuotes(text: string): string {
  const own = text.replace(/^>.*$/gm, '')
  return own.trim() === '' ? text : own
}

/** Joins lines that were wrapped to a width. */
function unwrapped(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/^(.{60,}[^.!?:\s])\n(?=\S)/gm, '$1 ')
}

/** Removes control characters except line breaks, and repeated empty lines. */
export function tidy(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * At most `limit` code units: up to the end of a sentence if that is at least half of the limit, otherwise of a word.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  let whole = 0
  for (const { index, segment } of sentences.segment(text.slice(0, limit + 1))) {
    if (index + segment.length <= limit) whole = index + segment.length
  }
  if (whole * 2 >= limit) return text.slice(0, whole).trimEnd()
  const word = /^[\s\S]*\S(?=\s)/.exec(text.slice(0, limit + 1))?.[0] ?? ''
  return word.length * 2 >= limit ? word : clipped(text, limit, '')
}
