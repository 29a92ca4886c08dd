/**
 * The documents of the repository that the service serves: guides, reference, specification and glossary, at addresses below
 * /docs/ that their links to each other fit. A link to what is not served keeps its words alone.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Html } from './page.ts'
import { first, type Versioned, versioned } from './sending.ts'

/** As published they stand beside the pages' own files (`scripts/build.ts`); in the repository they have their place. */
const published = fileURLToPath(new URL('../../assets/docs/', import.meta.url))
const directory = existsSync(published)
  ? published
  : fileURLToPath(new URL('../../../../docs/', import.meta.url))

/** Folders of which all is served, and single files. `scripts/build.ts` carries them along. */
export const servedFolders = ['guides', 'guides/receivers', 'reference'] as const
export const servedFiles = ['specification.md', 'glossary.md'] as const

/** What is listed, in the order in which a reader meets it. */
const abouts: ReadonlyMap<string, string> = new Map([
  [
    'guides/sync.md',
    'A copy of customers, tickets or all of it in a store of your own, and the proof that it is right.',
  ],
  ['guides/webhooks.md', 'Register an address, try it, read the log, recover what was missed.'],
  [
    'guides/receiving.md',
    'Verify, deduplicate and answer deliveries: complete receivers in TypeScript, Python and Go.',
  ],
  [
    'guides/clients.md',
    'Generate a client from openapi.json, in Python, Go or TypeScript, and sync with it.',
  ],
  ['guides/keys.md', 'Create keys with few scopes, replace their tokens, revoke them.'],
  ['guides/moving-in.md', 'Bring in what another system has, and get everything out again.'],
  ['guides/summaries.md', 'Who writes the summary of a resolved conversation: the service, a model, or you.'],
  ['guides/operating.md', 'Run an installation: settings, PostgreSQL, workers, backups, upgrades, metrics.'],
  ['specification.md', 'What the service does, rule by rule.'],
  ['reference/fields.md', 'Every kind of object with its fields, and which events tell of each.'],
  ['reference/events.md', 'Every event type: when it is sent, and with what.'],
  ['reference/webhooks.md', 'Endpoints, deliveries, attempts and recoveries, field by field.'],
  ['reference/keys.md', 'API keys and the organization, field by field.'],
  ['reference/errors.md', 'Every error code, in one table.'],
  ['reference/settings.md', 'Every setting with its default.'],
  ['glossary.md', 'One word for each thing.'],
])

export interface ServedDocument {
  /** Below /docs/: `guides/sync.md`. */
  readonly path: string
  readonly title: string
  /** What it is about, in a sentence; null where it is in no list. */
  readonly about: string | null
  readonly source: Versioned
  /** As HTML; null where it is a program. */
  readonly page: (() => Promise<Html>) | null
}

export type Documents = ReadonlyMap<string, ServedDocument>

/** Reads them all: a quarter of a megabyte. */
export async function readDocuments(): Promise<Documents> {
  const listed = servedFolders.map(async (folder) =>
    (await readdir(join(directory, folder), { withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  )
  const found = [...(await Promise.all(listed)).flat(), ...servedFiles]
  const order = [...abouts.keys(), ...found]
  const paths = found.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  const served = new Set(paths)
  const read = paths.map(async (path) => [path, await readDocument(path, served)] as const)
  return new Map(await Promise.all(read))
}

async function readDocument(path: string, served: ReadonlySet<string>): Promise<ServedDocument> {
  const text = await readFile(join(directory, path), 'utf8')
  if (!path.endsWith('.md')) {
    const source = await versioned(text, 'text/plain')
    return { path, title: posix.basename(path), about: null, source, page: null }
  }
  const markdown = withServedLinks(path, text.replace(/^<!--.*-->\n/, ''), served)
  return {
    path,
    title: /^# (.*)$/m.exec(markdown)?.[1] ?? path,
    about: abouts.get(path) ?? null,
    source: await versioned(markdown, 'text/markdown'),
    page: first(async () => rendered(markdown)),
  }
}

/** Links that lead to something when this is served at its path; the others become their words. Code stays as it is. */
function withServedLinks(path: string, markdown: string, served: ReadonlySet<string>): string {
  const isServed = (target: string) => {
    if (/^[a-z]+:/.test(target)) return true
    const [file = ''] = target.split('#')
    const led = posix.join(posix.dirname(path), file)
    return file === '' || served.has(led) || led === '../openapi.json'
  }
  return markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, n) =>
      n % 2 === 1
        ? part
        : part.replace(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, words: string, target: string) =>
            isServed(target) ? link : words,
          ),
    )
    .join('')
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
