/**
 * Guides, reference, specification and glossary, from the repository's `docs`, as Markdown and HTML. Links to pages
 * that are not served become plain text.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import MarkdownIt from 'markdown-it'
import { codeBlock } from './highlight.ts'
import { listed } from './listed.ts'
import { type Heading, Html } from './page.ts'
import type { Task } from './tasks.ts'

export interface ServedDocument {
  /** Below /docs/: `guides/sync.md`. */
  readonly path: string
  readonly title: string
  /** In a sentence; null for a program, which is in no list. */
  readonly about: string | null
  /** Null for a program. */
  readonly task: Task | null
  /** Other words that readers search for. */
  readonly also?: string
  readonly text: string
  /** Null for a program. */
  readonly page: Rendered | null
}

interface Rendered {
  readonly content: Html
  /** With their words, for the search. */
  readonly sections: readonly DocumentSection[]
}

interface DocumentSection extends Heading {
  readonly level: number
  readonly words: string
}

/** By path, in reading order. */
export type Documents = ReadonlyMap<string, ServedDocument>

const directory = new URL('../../../docs/', import.meta.url)

/** Throws where a guide or a reference page is not listed. */
export function readDocuments(): Documents {
  const inFolder = (folder: string) =>
    readdirSync(new URL(folder, directory), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`)
  const programs = ['guides/receivers', 'guides/consumers'].flatMap(inFolder)
  const unlisted = ['guides', 'reference'].flatMap(inFolder).filter((path) => !(path in listed))
  if (unlisted.length > 0)
    throw new Error(`say in packages/reference/src/listed.ts what ${unlisted} is about`)
  const served = new Set([...Object.keys(listed), ...programs])
  return new Map([...served].map((path) => [path, readDocument(path, served)]))
}

function readDocument(path: string, served: ReadonlySet<string>): ServedDocument {
  const stored = readFileSync(new URL(path, directory), 'utf8').replace(/^<!--.*-->\n/, '')
  const own = listed[path]
  if (own === undefined)
    return { path, title: posix.basename(path), about: null, task: null, text: stored, page: null }
  const title = /^# (.*)$/m.exec(stored)?.[1]
  if (title === undefined) throw new Error(`${path} has no title`)
  const text = withServedLinks(path, stored, served)
  return { path, title, ...own, text, page: rendered(text) }
}

/** Code is unchanged. */
function withServedLinks(path: string, markdown: string, served: ReadonlySet<string>): string {
  const isServed = (target: string) => {
    if (/^[a-z]+:/.test(target)) return true
    const [file = ''] = target.split('#')
    const led = posix.join(posix.dirname(path), file)
    return file === '' || served.has(led) || led === '../openapi.json'
  }
  const prose = (part: string) =>
    part.replace(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, words: string, target: string) =>
      isServed(target) ? link : words,
    )
  const parts = markdown.split(/(^```[\s\S]*?^```$)/m)
  return parts.map((part, n) => (n % 2 === 0 ? prose(part) : part)).join('')
}

/** With the anchors of headings that GitHub makes. */
function rendered(markdown: string): Rendered {
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
  // Wide tables scroll by themselves, also by keyboard.
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
