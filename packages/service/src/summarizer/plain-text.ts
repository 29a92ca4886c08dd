/** Converts bodies to plain text: without markup and without quoted text of emails. */
import { compile } from 'html-to-text'
import MarkdownIt from 'markdown-it'
import { clipped } from '../kernel/errors.ts'

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

/** At most `limit` code units: up to the end of a sentence if that is at least half of the limit, otherwise of a word. */
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
