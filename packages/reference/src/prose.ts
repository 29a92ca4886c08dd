/** Descriptions as HTML: code in backticks, links, and paragraphs. */
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { errorPath } from '../../service/src/kernel/errors.ts'
import { type Html, html } from './page.ts'
import type { Reference } from './reference.ts'

/** Names of events and errors in code become links to their pages. */
export function prose(text: string, reference: Pick<Reference, 'events'>): Html {
  if (text === '') return html``
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph, reference)}</p>\n`)}`
}

const marked = /`([^`]+)`|\[([^\]]+)\]\((\/[^)\s]*)\)|docs\/(specification\.md)/g

/** Without paragraphs. */
export function inline(text: string, { events }: Pick<Reference, 'events'> = { events: new Map() }): Html {
  const parts: unknown[] = []
  let from = 0
  for (const { 0: whole, 1: code, 2: words = '', 3: address, 4: document, index } of text.matchAll(marked)) {
    parts.push(text.slice(from, index))
    from = index + whole.length
    if (code !== undefined) parts.push(codeOf(code, events))
    else if (document !== undefined) parts.push(html`<a href="/docs/${document}">the specification</a>`)
    else parts.push(html`<a href="${address}">${inline(words)}</a>`)
  }
  return html`${[...parts, text.slice(from)]}`
}

function codeOf(code: string, events: Reference['events']): Html {
  const shown = html`<code>${code}</code>`
  if (events.has(code)) return html`<a href="${eventAddress(code)}">${shown}</a>`
  if (Object.hasOwn(errorCatalogue, code)) return html`<a href="${errorPath(code)}">${shown}</a>`
  return shown
}

export function eventAddress(type: string): string {
  return `/docs/events/${type}`
}
