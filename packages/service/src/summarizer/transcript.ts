/** The input of a summary: the messages in order, with their authors, as plain text of limited length. */

import { clipped } from '@deskwire/sdk/clipped'
import { compile } from 'html-to-text'
import MarkdownIt from 'markdown-it'
import type { Message } from '../desk/message/fields.ts'
import { cutText, tidy } from './text.ts'

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
