/**
 * The documentation as the service serves it: a page at `/`, `/openapi.json`, the reference below `/docs` with a page for each
 * operation, object, event and error, and the guides. Everything comes from here; a page may load nothing from anywhere else, and
 * none needs a key.
 */
import { vary } from '../http/compression.ts'
import { preferred } from '../http/negotiation.ts'
import { pathOf, refused, type Sent, sent } from '../http/replies.ts'
import { type Answered, type Call, routesOf } from '../http/route.ts'
import { problem } from '../kernel/errors.ts'
import type { Answer, ApiPart, Parameter } from '../openapi/part.ts'
import { type Assets, readAssets } from './assets.ts'
import { type Documents, readDocuments } from './documents.ts'
import { errorIndex, errorPage, unknownErrorPage } from './error-pages.ts'
import { guidesList, guidesPage, home, homePage, llmsText, overviewPage } from './home.ts'
import { type Section, sectionsOf, sidebar, trail } from './navigation.ts'
import { eventPage, objectPage } from './object-pages.ts'
import { operationPage } from './operation-page.ts'
import { type Content, renderPage } from './page.ts'
import { type Reference, readReference } from './reference.ts'
import { searchIndex } from './search-index.ts'
import { confine, first, sendUnchanging, sendVersioned, type Versioned, versioned } from './sending.ts'

/** What the routes serve: made, and read from files, for whoever asks first. */
interface Docs {
  readonly document: () => Promise<Versioned>
  readonly assets: () => Promise<Assets>
  readonly documents: () => Promise<Documents>
  readonly reference: () => Promise<Reference>
  /** What the sidebar lists. */
  readonly sections: () => Promise<readonly Section[]>
  readonly made: (content: Made) => Promise<Versioned>
}

/** What is the same for everybody who asks for it; made when the first one does. */
interface Made {
  /** One of finitely many: never what was sent. */
  readonly address: string
  readonly mediaType: string
  readonly make: () => Promise<string>
}

/** Of the API that these parts declare. */
export function createDocs(parts: () => readonly ApiPart[]): Docs {
  const known = new Map<string, () => Promise<Versioned>>()
  const reference = first(() => readReference(parts()))
  const documents = first(readDocuments)
  return {
    document: first(async () => versioned(JSON.stringify((await reference()).document), 'application/json')),
    assets: first(readAssets),
    documents,
    reference,
    sections: first(async () => sectionsOf(await reference(), await documents())),
    made({ address, mediaType, make }) {
      const name = `${mediaType} ${address}`
      const found = known.get(name) ?? first(async () => versioned(await make(), mediaType))
      known.set(name, found)
      return found()
    },
  }
}

const route = routesOf<Docs>()
const common = { method: 'get', tag: 'service', access: 'public' } as const
const pageAnswer = { mediaType: 'text/html', schema: { type: 'string' }, headers: ['Cache-Control'] } as const
const markdownAnswer = {
  ...pageAnswer,
  mediaType: 'text/markdown',
  also: { 'text/html': { type: 'string' } },
} as const
const unchanged = {
  description: 'Not changed: If-None-Match names the current version.',
  headers: ['Cache-Control'],
} as const

const landing = route({
  ...common,
  path: '/',
  id: 'getHome',
  summary: 'What this is, and where to go',
  answers: {
    200: { description: 'A page, or JSON.', ...pageAnswer, also: { 'application/json': { type: 'object' } } },
    304: unchanged,
  },
  async handle(docs, call) {
    if (wanted(call, ['text/html', 'application/json']) === 'application/json') {
      const make = async () => JSON.stringify(home())
      return sendMade(docs, call, { address: '/', mediaType: 'application/json', make })
    }
    return sendContent(docs, call, { address: '/', content: async () => homePage(await docs.documents()) })
  },
})

const llms = route({
  ...common,
  path: '/llms.txt',
  id: 'getLlmsText',
  summary: 'Where to go, for language models',
  answers: {
    200: { description: 'As llmstxt.org has it.', ...pageAnswer, mediaType: 'text/plain' },
    304: unchanged,
  },
  handle(docs, call) {
    const make = async () => llmsText(await docs.documents())
    return sendMade(docs, call, { address: '/llms.txt', mediaType: 'text/plain', make })
  },
})

const openApi = route({
  ...common,
  path: '/openapi.json',
  id: 'getOpenApi',
  summary: 'This document',
  answers: {
    200: { description: 'This document.', schema: { type: 'object' }, headers: ['Cache-Control'] },
    304: unchanged,
  },
  handle: async ({ document }, { request, reply }) => sendVersioned(request, reply, await document()),
})

const overview = route({
  ...common,
  path: '/docs',
  id: 'getReference',
  summary: 'Where the documentation begins',
  answers: { 200: { description: 'What there is to read, by task.', ...pageAnswer }, 304: unchanged },
  handle(docs, call) {
    const content = async () => overviewPage(await docs.sections())
    return sendContent(docs, call, { address: '/docs', content })
  },
})

const searchable = route({
  ...common,
  path: '/docs/search.json',
  id: 'getSearchIndex',
  summary: 'What the search of the pages looks in',
  answers: {
    200: {
      description: 'Operations, fields, objects, events, errors and sections of documents.',
      schema: {
        type: 'array',
        items: {
          type: 'array',
          items: { type: 'string' },
          description:
            'What it is, its title, its address, what stands below the title, words that find it besides.',
        },
        examples: [[['event', 'ping', '/docs/events/ping', 'Sent on request', 'webhook']]],
      },
      headers: ['Cache-Control'],
    },
    304: unchanged,
  },
  handle(docs, call) {
    const make = async () => JSON.stringify(await searchIndex(await docs.reference(), await docs.documents()))
    return sendMade(docs, call, { address: '/docs/search.json', mediaType: 'application/json', make })
  },
})

const referencePages = [
  pageOf('/docs/api/{name}', {
    id: 'getOperationPage',
    summary: 'An operation: what it takes, answers, refuses and causes, with samples',
    example: 'listChanges',
    find: (name, reference) => {
      const operation = reference.operations.get(name)
      return operation === undefined ? null : () => operationPage(operation, reference)
    },
  }),
  pageOf('/docs/objects/{name}', {
    id: 'getObjectPage',
    summary: 'An object with its fields',
    example: 'Checkpoint',
    find: (name, reference) => {
      const schema = reference.objects.get(name)
      return schema === undefined ? null : () => objectPage(name, schema, reference)
    },
  }),
  pageOf('/docs/events/{name}', {
    id: 'getEventPage',
    summary: 'An event: what causes it and what is sent',
    example: 'ping',
    find: (name, reference) => {
      const event = reference.events.get(name)
      return event === undefined ? null : () => eventPage(event, reference)
    },
  }),
]

interface NamedPages {
  readonly id: string
  readonly summary: string
  /** One of the names. */
  readonly example: string
  /** What makes the page of this name; null where there is none. */
  readonly find: (name: string, reference: Reference) => (() => Content) | null
}

function pageOf(path: `/docs/${string}/{name}`, { id, summary, example, find }: NamedPages) {
  return route({
    ...common,
    path,
    id,
    summary,
    params: [text('name', 'As openapi.json names it.', example)],
    answers: { 200: { description: `${summary}.`, ...pageAnswer }, 304: unchanged },
    errors: ['not_found'],
    async handle(docs, call): Promise<Answered> {
      const { name } = call.params
      const page = find(name, await docs.reference())
      if (page === null) {
        return refused(
          problem(
            'not_found',
            `There is no ${pathOf(call.request)}; /docs and /openapi.json list what there is.`,
          ),
        )
      }
      return sendContent(docs, call, { address: path.replace('{name}', name), content: async () => page() })
    },
  })
}

const guides = route({
  ...common,
  path: '/docs/guides',
  id: 'listGuides',
  summary: 'Every guide',
  answers: { 200: { description: 'Every guide.', ...markdownAnswer }, 304: unchanged },
  handle: sendGuides,
})

function sendGuides(docs: Docs, call: Asked): Promise<Sent> {
  const address = '/docs/guides'
  if (wanted(call, ['text/markdown', 'text/html']) === 'text/html') {
    return sendContent(docs, call, { address, content: async () => guidesPage(await docs.documents()) })
  }
  const make = async () => guidesList(await docs.documents())
  return sendMade(docs, call, { address, mediaType: 'text/markdown', make })
}

const documentRoutes = [
  served('/docs/guides/{file}', { id: 'getGuide', summary: 'A guide', example: 'sync.md' }),
  served('/docs/guides/receivers/{file}', {
    id: 'getReceiver',
    summary: 'A complete receiver of webhooks',
    example: 'receiver.py',
    answer: { ...pageAnswer, mediaType: 'text/plain' },
  }),
  served('/docs/guides/consumers/{file}', {
    id: 'getConsumer',
    summary: 'What keeps a copy, complete',
    example: 'deskwire_dlt.py',
    answer: { ...pageAnswer, mediaType: 'text/plain' },
  }),
  served('/docs/reference/{file}', {
    id: 'getReferencePage',
    summary: 'A page of the reference',
    example: 'fields.md',
  }),
  served('/docs/{file}', {
    id: 'getDocument',
    summary: 'The specification, or the glossary',
    example: 'specification.md',
  }),
]

interface Served {
  readonly id: string
  readonly summary: string
  /** One of the names. */
  readonly example: string
  readonly answer?: Omit<Answer, 'description'>
}

/** The files of a folder that `documents.ts` reads: as they are, or as pages for whoever likes that better. */
function served(path: `/docs/${string}{file}`, { id, summary, example, answer = markdownAnswer }: Served) {
  return route({
    ...common,
    path,
    id,
    summary,
    params: [text('file', 'Its name.', example)],
    answers: { 200: { description: `${summary}.`, ...answer }, 304: unchanged },
    errors: ['not_found'],
    async handle(docs, call): Promise<Answered> {
      const { file } = call.params
      // The folder itself, with the slash that people and links write.
      if (path === '/docs/guides/{file}' && file === '') return sendGuides(docs, call)
      const found = (await docs.documents()).get(path.replace('/docs/', '').replace('{file}', file))
      if (found === undefined) {
        return refused(
          problem(
            'not_found',
            `There is no ${pathOf(call.request)}; /docs/guides and /llms.txt list what there is.`,
          ),
        )
      }
      const { page, title, source } = found
      if (page === null || wanted(call, ['text/markdown', 'text/html']) === 'text/markdown') {
        return sendVersioned(call.request, call.reply, source)
      }
      const content = async () => {
        const { content, sections } = await page()
        const headings = sections.filter(({ level }) => level === 2)
        return { title: `${title} · Deskwire`, content, headings }
      }
      return sendContent(docs, call, { address: `/docs/${found.path}`, content })
    },
  })
}

const errorPages = route({
  ...common,
  path: '/docs/errors',
  id: 'listErrorPages',
  summary: 'Every error code',
  answers: { 200: { description: 'Every error code.', ...pageAnswer }, 304: unchanged },
  handle: (docs, call) =>
    sendContent(docs, call, { address: '/docs/errors', content: async () => errorIndex() }),
})

const oneErrorPage = route({
  ...common,
  path: '/docs/errors/{code}',
  id: 'getErrorPage',
  summary: 'What an error code means and what to do',
  params: [text('code', 'A code of a problem.', 'not_found')],
  answers: {
    200: { description: 'What an error code means and what to do.', ...pageAnswer },
    304: unchanged,
    404: {
      description: 'There is no such code; the page says where all are.',
      mediaType: 'text/html',
      schema: { type: 'string' },
    },
  },
  async handle(docs, call) {
    const { code } = call.params
    const page = errorPage(code, await docs.reference())
    if (page !== null) {
      return sendContent(docs, call, { address: `/docs/errors/${code}`, content: async () => page })
    }
    const { reply } = call
    confine(reply)
    reply.code(404).header('cache-control', 'no-cache').header('content-type', 'text/html; charset=utf-8')
    reply.send(await framed(docs, '/docs/errors', unknownErrorPage(code)))
    return sent
  },
})

const asset = route({
  ...common,
  path: '/docs/assets/{file}',
  id: 'getDocsAsset',
  summary: 'What the pages load',
  params: [text('file', 'A name as the pages have it; it changes with the content.', 'docs.css')],
  answers: {
    200: { description: 'What the pages load.', mediaType: '*/*', schema: {}, headers: ['Cache-Control'] },
  },
  errors: ['not_found'],
  async handle({ assets }, { request, reply, params: { file } }) {
    const found = Object.values(await assets()).find(({ address }) => address === `/docs/assets/${file}`)
    if (found !== undefined) return sendUnchanging(request, reply, found)
    return refused(
      problem('not_found', `There is no ${file} here; the pages under /docs name what there is.`),
    )
  },
})

export const documentPart = { tags: [], routes: [openApi] } satisfies ApiPart

/** What people read: no client calls it, so `openapi.json` does not have it. */
export const pageRoutes = [
  landing,
  llms,
  overview,
  searchable,
  ...referencePages,
  guides,
  ...documentRoutes,
  errorPages,
  oneErrorPage,
  asset,
]

function text(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'string', examples: [example] } }
}

type Asked = Pick<Call, 'request' | 'reply'>

/** Which of these the request likes best, in doubt the first; the answer says that there are others. */
function wanted<Type extends string>({ request, reply }: Asked, types: readonly [Type, Type]): Type {
  vary(reply, 'Accept')
  return preferred(request.headers.accept, types) ?? types[0]
}

/** A page in the frame of all, under a policy that lets it run our script and call this service. */
function sendContent(
  docs: Docs,
  call: Asked,
  { address, content }: { readonly address: string; readonly content: () => Promise<Content> },
): Promise<Sent> {
  confine(call.reply)
  const make = async () => framed(docs, address, await content())
  return sendMade(docs, call, { address, mediaType: 'text/html', make })
}

async function framed(docs: Docs, address: string, content: Content): Promise<string> {
  const { tokens, style, icon, script, theme } = await docs.assets()
  const sections = await docs.sections()
  return renderPage(content, {
    sidebar: sidebar(sections, address),
    trail: trail(sections, address),
    styles: [tokens.address, style.address],
    script: script.address,
    theme: theme.address,
    icon: icon.address,
  })
}

async function sendMade({ made }: Docs, { request, reply }: Asked, content: Made): Promise<Sent> {
  return sendVersioned(request, reply, await made(content))
}
