/**
 * The documentation as the service serves it: `/openapi.json`, the interactive reference at `/docs`, a page for each
 * error. Everything comes from here; a page may load nothing from anywhere else, and none needs a key.
 */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag, holdsVersion } from '../http/entity-tag.ts'
import { refused, type Sent, sent } from '../http/replies.ts'
import { routesOf } from '../http/route.ts'
import { problem } from '../kernel/errors.ts'
import type { ApiPart, Json, Parameter } from '../openapi/part.ts'
import { type Asset, type Assets, readAssets } from './assets.ts'
import { type Content, errorIndex, errorPage, unknownErrorPage } from './error-pages.ts'
import { html, renderPage } from './page.ts'

/** What the routes serve: made, and read from files, for whoever asks first. */
export interface Docs {
  readonly document: () => Promise<Versioned>
  readonly assets: () => Promise<Assets>
}

export function createDocs(makeDocument: () => Promise<Json>): Docs {
  return {
    document: first(async () =>
      withVersion(JSON.stringify(await makeDocument()), 'application/json; charset=utf-8'),
    ),
    assets: first(readAssets),
  }
}

/** What the first call makes, for all calls; what failed is tried again by the next. */
function first<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}

const route = routesOf<Docs>()
const common = { method: 'get', tag: 'service', access: 'public' } as const
const pageAnswer = { mediaType: 'text/html', schema: { type: 'string' }, headers: ['Cache-Control'] } as const
const unchanged = {
  description: 'Not changed: If-None-Match names the current version.',
  headers: ['Cache-Control'],
} as const

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

const reference = route({
  ...common,
  path: '/docs',
  id: 'getReference',
  summary: 'The interactive reference',
  answers: { 200: { description: 'The interactive reference.', ...pageAnswer }, 304: unchanged },
  async handle({ assets }, { request, reply }) {
    const { style, icon, reference, swagger, swaggerStyle } = await assets()
    const page = renderPage({
      title: 'API reference · Deskwire',
      body: html`<div id="content"><div id="reference"></div></div>
<noscript><main class="page"><h1>API reference</h1>
<p>The interactive reference needs JavaScript. What it shows is <a href="/openapi.json">openapi.json</a>; the
<a href="/docs/errors">errors</a> have pages without.</p></main></noscript>`,
      styles: [swaggerStyle.address, style.address],
      scripts: [swagger.address, reference.address],
      icon: icon.address,
    })
    return sendPage(request, reply, page, "script-src 'self'; connect-src 'self'; ")
  },
})

const errorPages = route({
  ...common,
  path: '/docs/errors',
  id: 'listErrorPages',
  summary: 'Every error code',
  answers: { 200: { description: 'Every error code.', ...pageAnswer }, 304: unchanged },
  handle: (docs, { request, reply }) => sendContent(docs, request, reply, errorIndex()),
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
  handle(docs, { request, reply, params: { code } }) {
    const page = errorPage(code)
    if (page === null) return sendContent(docs, request, reply.code(404), unknownErrorPage(code))
    return sendContent(docs, request, reply, page)
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
    if (found !== undefined) return sendAsset(request, reply, found)
    return refused(
      problem('not_found', `There is no ${file} here; the pages under /docs name what there is.`),
    )
  },
})

export const docsPart = {
  tags: [],
  routes: [openApi, reference, errorPages, oneErrorPage, asset],
} satisfies ApiPart

function text(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'string', examples: [example] } }
}

async function sendContent(
  { assets }: Docs,
  request: FastifyRequest,
  reply: FastifyReply,
  { title, content }: Content,
): Promise<Sent> {
  const { style, icon } = await assets()
  const body = html`<main class="page" id="content">\n${content}\n</main>`
  const page = renderPage({ title, body, styles: [style.address], icon: icon.address })
  return sendPage(request, reply, page)
}

interface Versioned {
  readonly body: string
  readonly mediaType: string
  /** A hash of the body. */
  readonly version: string
}

function withVersion(body: string, mediaType: string): Versioned {
  return { body, mediaType, version: createHash('sha256').update(body).digest('base64url').slice(0, 22) }
}

/** May be kept, but is asked for again each time: the next release has other pages at the same addresses. */
function sendVersioned(request: FastifyRequest, reply: FastifyReply, versioned: Versioned): Sent {
  const { body, mediaType, version } = versioned
  reply.header('cache-control', 'no-cache').header('etag', entityTag(version))
  if (reply.statusCode === 200 && holdsVersion(request.headers['if-none-match'], version)) {
    reply.code(304).send()
    return sent
  }
  reply.header('content-type', mediaType).send(body)
  return sent
}

/** Styles and images come from the service; `more` is what else a page may do. Nothing may frame it. */
function sendPage(request: FastifyRequest, reply: FastifyReply, page: string, more = ''): Sent {
  reply
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'self'; img-src 'self' data:; ${more}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
  return sendVersioned(request, reply, withVersion(page, 'text/html; charset=utf-8'))
}

/** Its address changes with its content: it can be kept for good. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): Sent {
  const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (compressed) reply.header('content-encoding', 'gzip')
  reply
    .header('content-type', asset.mediaType)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
    .send(compressed ? asset.gzipped : asset.bytes)
  return sent
}
