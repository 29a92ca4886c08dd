/**
 * Guides, reference, specification and glossary as the service serves them below /docs/: as Markdown, and as pages. They come
 * from one file, which `npm run generate` makes of the repository's `docs`.
 */
import { readFile } from 'node:fs/promises'
import { Html } from './page.ts'
import { first, type Versioned, versioned } from './sending.ts'

/** As the file has it. */
export interface StoredDocument {
  /** Below /docs/: `guides/sync.md`. */
  readonly path: string
  readonly title: string
  /** What it is about, in a sentence; null for a program, which is in no list. */
  readonly about: string | null
  readonly text: string
}

export interface ServedDocument extends Omit<StoredDocument, 'text'> {
  readonly source: Versioned
  /** As HTML; null for a program. */
  readonly page: (() => Promise<Html>) | null
}

/** By path, in the order in which a reader meets them. */
export type Documents = ReadonlyMap<string, ServedDocument>

/** Reads them all: some 150 KB. */
export async function readDocuments(): Promise<Documents> {
  const file = await readFile(new URL('../../assets/documents.json', import.meta.url), 'utf8')
  const served = (JSON.parse(file) as readonly StoredDocument[]).map(
    async ({ path, title, about, text }): Promise<[string, ServedDocument]> => {
      const source = await versioned(text, about === null ? 'text/plain' : 'text/markdown')
      return [path, { path, title, about, source, page: about === null ? null : first(() => rendered(text)) }]
    },
  )
  return new Map(await Promise.all(served))
}

/** As a browser shows it, with the anchors that links to headings have on GitHub. */
async function rendered(markdown: string): Promise<Html> {
  const { default: MarkdownIt } = await import('markdown-it')
  const parser = new MarkdownIt()
  parser.renderer.rules.heading_open = (tokens, at) => {
    const { tag } = tokens[at] as { tag: string }
    return `<${tag} id="${anchorOf(tokens[at + 1]?.content ?? '')}">`
  }
  return new Html(parser.render(markdown))
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
