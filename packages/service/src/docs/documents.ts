/**
 * Guides, reference, specification and glossary as the service serves them below /docs/: as Markdown, and as pages. They come
 * from one file, which `npm run generate` makes of the repository's `docs`.
 */

import { readFile } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import { codeBlock } from './highlight.ts'
import { type Heading, Html } from './page.ts'
import { first, type Versioned, versioned } from './sending.ts'
import type { Task } from './tasks.ts'

/** As the file has it. */
export interface StoredDocument {
  /** Below /docs/: `guides/sync.md`. */
  readonly path: string
  readonly title: string
  /** What it is about, in a sentence; null for a program, which is in no list. */
  readonly about: string | null
  /** What it serves; null for a program. */
  readonly task: Task | null
  readonly text: string
}

export interface ServedDocument extends Omit<StoredDocument, 'text'> {
  readonly source: Versioned
  /** As HTML; null for a program. */
  readonly page: (() => Promise<Rendered>) | null
}

interface Rendered {
  readonly content: Html
  /** Its sections, each with the words in it. */
  readonly sections: readonly DocumentSection[]
}

interface DocumentSection extends Heading {
  readonly level: number
  readonly words: string
}

/** By path, in the order in which a reader meets them. */
export type Documents = ReadonlyMap<string, ServedDocument>

/** Reads them all: some 150 KB. */
export async function readDocuments(): Promise<Documents> {
  const file = await readFile(new URL('../../assets/documents.json', import.meta.url), 'utf8')
  const served = (readJson(file) as readonly StoredDocument[]).map(
    async ({ text, ...listed }): Promise<[string, ServedDocument]> => {
      const { path, about } = listed
      const source = await versioned(text, about === null ? 'text/plain' : 'text/markdown')
      return [path, { ...listed, source, page: about === null ? null : first(() => rendered(text)) }]
    },
  )
  return new Map(await Promise.all(served))
}

/** As a browser shows it, with the anchors that links to headings have on GitHub. */
async function rendered(markdown: string): Promise<Rendered> {
  const { default: MarkdownIt } = await import('markdown-it')
  const parser = new MarkdownIt()
  const { rules } = parser.renderer
  rules.heading_open = (tokens, at) => {
    const { tag } = tokens[at] as { tag: string }
    return `<${tag} id="${anchorOf(tokens[at + 1]?.content ?? '')}">`
  }
  rules.fence = (tokens, at) => {
    const { content, info } = tokens[at] as { content: string; info: string }
    return `${codeBlock(content.trimEnd(), info.trim(), info.trim() === '' ? 'Code' : `Code, ${info.trim()}`).text}\n`
  }
  // Wide tables move by themselves, by the keyboard too, and the page stays.
  rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'
  rules.table_close = () => '</table></div>\n'
  const tokens = parser.parse(markdown, {})
  const sections: (DocumentSection & { words: string })[] = []
  for (const [at, { type, tag, content }] of tokens.entries()) {
    if (type === 'heading_open') {
      const text = (tokens[at + 1]?.content ?? '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      const id = anchorOf(tokens[at + 1]?.content ?? '')
      sections.push({ id, text: text.replaceAll('`', ''), level: Number(tag.slice(1)), words: '' })
    } else if (type === 'inline' || type === 'fence') {
      const section = sections.at(-1)
      if (section !== undefined) section.words += ` ${content}`
    }
  }
  return { content: new Html(parser.renderer.render(tokens, parser.options, {})), sections }
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
