/**
 * The documentation as the service serves it: `/openapi.json`, the interactive reference at `/docs`, a page for each
 * error. Everything comes from here; a page may load nothing from anywhere else, and none needs a key.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { entityTag, holdsVersion } from '../http/entity-tag.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { problem } from '../kernel/errors.ts'
import type { Json } from '../openapi/part.ts'
import { type Asset, type Assets, readAssets } from './assets.ts'
import { type Content, errorIndex, errorPage, unknownErrorPage } from './error-pages.ts'
import { html } from './html.ts'
import { renderPage } from './page.ts'

/** Registers them. The document is made, and files are read, for whoever asks first. */
export function registerDocs(server: FastifyInstance, makeDocument: () => Json): void {
  let document: Versioned | null = null
  let reading: Promise<Assets> | null = null
  const assets = () => {
    // Files that could not be read just then are read again for the next.
    reading ??= readAssets().catch((error: unknown) => {
      reading = null
      throw error
    })
    return reading
  }

  server.get('/openapi.json', (request, reply) => {
    document ??= withVersion(JSON.stringify(makeDocument()), 'application/json; charset=utf-8')
    return sendVersioned(request, reply, document)
  })

  server.get('/docs', async (request, reply) => {
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
  })

  server.get('/docs/errors', (request, reply) => sendContent(request, reply, errorIndex()))

  server.get<{ Params: { code: string } }>('/docs/errors/:code', (request, reply) => {
    const { code } = request.params
    const page = errorPage(code)
    if (page === null) return sendContent(request, reply.code(404), unknownErrorPage(code))
    return sendContent(request, reply, page)
  })

  server.get<{ Params: { file: string } }>('/docs/assets/:file', async (request, reply) => {
    const { file } = request.params
    const asset = Object.values(await assets()).find(({ address }) => address === `/docs/assets/${file}`)
    if (asset !== undefined) return sendAsset(request, reply, asset)
    return sendProblem(
      reply,
      problem('not_found', `There is no ${file} here; the pages under /docs name what there is.`),
    )
  })

  async function sendContent(
    request: FastifyRequest,
    reply: FastifyReply,
    { title, content }: Content,
  ): Promise<FastifyReply> {
    const { style, icon } = await assets()
    const body = html`<main class="page" id="content">\n${content}\n</main>`
    const page = renderPage({ title, body, styles: [style.address], icon: icon.address })
    return sendPage(request, reply, page)
  }
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
function sendVersioned(request: FastifyRequest, reply: FastifyReply, sent: Versioned): FastifyReply {
  const { body, mediaType, version } = sent
  reply.header('cache-control', 'no-cache').header('etag', entityTag(version))
  if (reply.statusCode === 200 && holdsVersion(request.headers['if-none-match'], version)) {
    return reply.code(304).send()
  }
  return reply.header('content-type', mediaType).send(body)
}

/** Styles and images come from the service; `more` is what else a page may do. Nothing may frame it. */
function sendPage(request: FastifyRequest, reply: FastifyReply, page: string, more = ''): FastifyReply {
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
function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (compressed) reply.header('content-encoding', 'gzip')
  return reply
    .header('content-type', asset.mediaType)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', 'accept-encoding')
    .header('x-content-type-options', 'nosniff')
    .send(compressed ? asset.gzipped : asset.bytes)
}
