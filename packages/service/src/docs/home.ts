/** Where a visitor arrives: the page at `/`, the same for programs, `/llms.txt`, and the list of guides. */
import { version } from '../kernel/version.ts'
import type { Json } from '../openapi/part.ts'
import type { Documents, ServedDocument } from './documents.ts'
import { type Content, type Html, html, inline as words } from './page.ts'

const claim = 'A desk service whose outside copies never drift'
const whatItIs = `${claim}: customers, conversations, messages, tickets and bookings over HTTP.`
const how =
  'Every change and every removal stands in one ordered stream, which a copy follows from where it stopped, with a proof at its end; events arrive as signed webhooks, at least once.'
const keyed =
  'Calls below `/v1` carry an API key, as `Authorization: Bearer dwk_…`. Keys come from the first start, from `deskwire org create`, or from whoever runs this installation.'

/** What stands beside the documents, by address. */
const others = {
  '/docs': ['API reference', 'Every call and every event, to read and to try with your key.'],
  '/openapi.json': ['openapi.json', 'The same for programs: OpenAPI 3.1, to generate clients from.'],
  '/docs/errors': ['Error pages', 'What each code means and what to do about it.'],
} as const

export const homeSchema: Json = {
  type: 'object',
  description: 'What this is, and where to go.',
  required: ['service', 'version', 'description', 'api', 'documentation'],
  properties: {
    service: { type: 'string', description: 'Always deskwire.' },
    version: { type: 'string', description: 'The release.' },
    description: { type: 'string', description: 'What it is, in a sentence.' },
    api: { type: 'string', description: 'What the calls of the API begin with.' },
    documentation: {
      type: 'object',
      description: 'Paths of what there is to read, by what it is.',
      additionalProperties: { type: 'string' },
    },
  },
  examples: [home()],
}

/** For programs. */
export function home() {
  return {
    service: 'deskwire',
    version,
    description: whatItIs,
    api: '/v1',
    documentation: {
      openapi: '/openapi.json',
      llms: '/llms.txt',
      guides: '/docs/guides',
      specification: '/docs/specification.md',
      reference: '/docs',
      errors: '/docs/errors',
    },
  }
}

/** For people. */
export function homePage(documents: Documents): Content {
  return {
    title: 'Deskwire',
    content: html`<h1>${claim}</h1>
<p class="lead">Deskwire keeps customers, conversations, messages, tickets and bookings, and serves them over HTTP.</p>
<p>${how}</p>
<h2>Make a call</h2>
<p>${words(keyed)} With <code>KEY</code> such a key and <code>URL</code> the address of this page without its last slash:</p>
<pre tabindex="0" aria-label="A first call"><code>curl -H "Authorization: Bearer $KEY" "$URL/v1/customers"</code></pre>
${section('Guides', guidesOf(documents))}
${section('Reference', [
  ...Object.entries(others).map(([address, [title, about]]) => ({ address, title, about })),
  ...referenceOf(documents),
])}
<p class="facts">Version ${version}. Whether it works: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>. For
programs that read: <a href="/llms.txt">/llms.txt</a>.</p>`,
  }
}

/** The list of guides, as a page. */
export function guidesPage(documents: Documents): Content {
  return {
    title: 'Guides · Deskwire',
    content: html`<h1>Guides</h1>
<p>How to do something with Deskwire, or to it. Each is Markdown for whoever asks for no page.</p>
${entries(guidesOf(documents))}
<p>What each call and each field does is in the <a href="/docs">reference</a>; the rules behind all of it are in the
<a href="/docs/specification.md">specification</a>.</p>`,
  }
}

/** The same as Markdown. */
export function guidesList(documents: Documents): string {
  return `# Guides

How to do something with Deskwire, or to it.

${guidesOf(documents).map(line).join('')}
What each call and each field does is in [openapi.json](/openapi.json); the rules behind all of it are in the
[specification](/docs/specification.md).
`
}

/** For language models (llmstxt.org). */
export function llmsText(documents: Documents): string {
  const apis = Object.entries(others).map(([address, [title, about]]) => ({ address, title, about }))
  return `# Deskwire

> ${whatItIs} ${how}

${keyed} Addresses are those of the installation that serves this file.

## API

${apis.map(line).join('')}
## Guides

${guidesOf(documents).map(line).join('')}
## Reference

${referenceOf(documents).map(line).join('')}`
}

interface Entry {
  readonly address: string
  readonly title: string
  readonly about: string
}

function guidesOf(documents: Documents): readonly Entry[] {
  return entriesOf(documents, ({ path }) => path.startsWith('guides/'))
}

function referenceOf(documents: Documents): readonly Entry[] {
  return entriesOf(documents, ({ path }) => !path.startsWith('guides/'))
}

function entriesOf(documents: Documents, isListed: (document: ServedDocument) => boolean): readonly Entry[] {
  return [...documents.values()]
    .filter(isListed)
    .flatMap(({ path, title, about }) => (about === null ? [] : [{ address: `/docs/${path}`, title, about }]))
}

function line({ address, title, about }: Entry): string {
  return `- [${title}](${address}): ${about}\n`
}

function section(title: string, listed: readonly Entry[]): Html {
  return html`<h2>${title}</h2>\n${entries(listed)}`
}

function entries(listed: readonly Entry[]): Html {
  return html`<dl class="entries">
${listed.map(
  ({ address, title, about }) => html`<dt><a href="${address}">${title}</a></dt>\n<dd>${words(about)}</dd>\n`,
)}</dl>`
}
