/** The page at `/`, the same for programs, `/llms.txt`, and the list of guides. */
import { version } from '../../service/src/kernel/version.ts'
import type { Documents, ServedDocument } from './documents.ts'
import { codeBlock } from './highlight.ts'
import type { Section } from './navigation.ts'
import { type Content, type Html, html } from './page.ts'
import { inline as words } from './prose.ts'

const claim = 'A desk service whose outside copies never drift'
const whatItIs = `${claim}: customers, conversations, messages, tickets and bookings over HTTP.`
const how =
  'Every change and removal is in one ordered stream; a copy continues where it stopped, and a proof at the end shows that it is exact; events arrive as signed webhooks, at least once.'
const keyed =
  'Calls below `/v1` carry an API key, as `Authorization: Bearer dwk_…`. Keys come from the first start, from `deskwire organizations create`, or from the operator of this installation.'

/** Pages next to the documents, by address. */
const others = {
  '/docs': [
    'Documentation',
    'Every call, object, event and error by what you are about to do, to read and to try with your key.',
  ],
  '/openapi.json': ['openapi.json', 'The same for programs: OpenAPI 3.1, to generate clients from.'],
  '/docs/errors': ['Error pages', 'What each code means and what to do about it.'],
} as const

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
<p>${words(keyed)} With the key in <code>DESKWIRE_API_KEY</code> and the address of this page, followed by <code>/v1</code>, in
<code>DESKWIRE_URL</code>:</p>
${firstCall}
${section('Guides', guidesOf(documents))}
${section('Reference', [
  ...Object.entries(others).map(([address, [title, about]]) => ({ address, title, about })),
  ...referenceOf(documents),
])}
<p class="facts">Version ${version}. Whether it works: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>. For
programs that read: <a href="/llms.txt">/llms.txt</a>.</p>`,
  }
}

const firstCall = codeBlock(
  'curl "$DESKWIRE_URL/customers" -H "Authorization: Bearer $DESKWIRE_API_KEY"',
  'curl',
  'A first call',
)

/** The start of the documentation: what all calls have in common, and a card for each task. */
export function overviewPage(sections: readonly Section[]): Content {
  return {
    title: 'Documentation · Deskwire',
    isWide: true,
    content: html`<h1>Documentation</h1>
<p class="lead">${whatItIs}</p>
<p>${how}</p>
<div class="cards">
${sections.map(({ task, title, about, pages, groups }) => {
  return html`<section class="card">
<h2>${title}</h2>
<p>${about}</p>
<ul>
${pages.slice(0, task === 'start' ? 4 : 3).map(({ address, title }) => (address === '/docs' ? '' : html`<li><a href="${address}">${title}</a></li>\n`))}</ul>
${
  groups.length === 0
    ? ''
    : html`<p class="groups">${groups.map(({ title, links: [first] }) => html`<a href="${first?.address}">${title}</a> `)}</p>`
}</section>
`
})}</div>
<h2 id="first-call">A first call</h2>
<p>${words(keyed)} The samples take two values from the environment: <code>DESKWIRE_API_KEY</code>, such a key, and <code>DESKWIRE_URL</code>, the
address of this installation with <code>/v1</code> at its end.</p>
${firstCall}
<h2 id="rules">What all calls have in common</h2>
<dl class="entries">
${rules.map(([name, rule]) => html`<dt>${name}</dt>\n<dd>${words(rule)}</dd>\n`)}</dl>
<p class="quiet">Version ${version}. For programs: <a href="/openapi.json">openapi.json</a>, <a href="/llms.txt">llms.txt</a>.</p>`,
  }
}

const rules: readonly (readonly [name: string, rule: string])[] = [
  [
    'Bodies',
    'JSON, UTF-8, at most 1 MiB unless an operation says more. Times are UTC with three decimals, ids are UUIDs.',
  ],
  [
    'Errors',
    'Every refusal is `application/problem+json`. Decide by its `code`: each has [a page](/docs/errors) that says what to do.',
  ],
  [
    'Repeating',
    'A POST under an `Idempotency-Key` is made once and answered alike for 24 hours. Before you repeat a PATCH or DELETE, read the object, or send `If-Match`.',
  ],
  [
    'Versions',
    "An object's `ETag` is its `updatedAt`. Send it as `If-Match` and a change that would overwrite another's is refused.",
  ],
  [
    'Lists',
    'Newest first, 20 rows unless `limit` says otherwise, at most 100. To keep a copy, [sync](/docs/guides/sync.md) instead of paging.',
  ],
  ['Limits', '`RateLimit` says what is left, `Retry-After` in how many seconds to come again.'],
  ['New words', 'Enumerations of answers are open: a later version may know more words, and more fields.'],
]

export function guidesPage(documents: Documents): Content {
  return {
    title: 'Guides · Deskwire',
    content: html`<h1>Guides</h1>
<p>How to do something with Deskwire, or to it. Clients that do not ask for HTML get each as Markdown.</p>
${entries(guidesOf(documents))}
<p>What each call and each field does is in the <a href="/docs">reference</a>; the rules behind all of it are in the
<a href="/docs/specification.md">specification</a>.</p>`,
  }
}

/** The list as Markdown. */
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
