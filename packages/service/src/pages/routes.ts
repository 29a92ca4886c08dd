/** Serves prebuilt pages: documentation, and the console below `/console`. No key; nothing from other hosts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { vary } from '../http/compression.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { pathOf } from '../http/replies.ts'
import { first, sendUnchanging, sendVersioned } from '../http/static-content.ts'
import { problem } from '../kernel/errors.ts'
import { readSite, type SiteFile, unknownErrorFile, unknownErrorName } from './files.ts'

interface PagesOptions {
  /** The output of `npm run build:pages`. */
  readonly docs: URL
  readonly console: URL
  /** Origins whose pages may show the console in a frame (`https://app.example`). Default: none. */
  readonly frameAncestors?: readonly string[]
}

export function registerPages(
  server: FastifyInstance,
  { docs, console, frameAncestors = [] }: PagesOptions,
): void {
  const readDocs = first(() => readSite(docs, ''))
  const readConsole = first(() => readSite(console, '/console'))
  const consolePolicy = policyFor(frameAncestors)
  const docsPolicy = policyFor([])

  for (const url of ['/', '/llms.txt', '/docs', '/docs/*']) {
    server.get(url, async (request, reply) => {
      const site = await readDocs()
      if (site === null) return sendUnbuilt(reply)
      const address = addressAt(url, request)
      const forms = site.get(address)
      if (forms !== undefined) {
        const form = preferredForm(forms, request, reply)
        if (form.type === 'text/html') confine(reply, docsPolicy)
        return send(form, address, request, reply)
      }
      if (site.has(`${address}.md`)) return reply.redirect(`${address}.md`, 308)
      const unknown = address.startsWith('/docs/errors/') ? site.get(unknownErrorFile)?.[0] : undefined
      if (unknown === undefined) return refuse(request, reply)
      confine(reply, docsPolicy)
      const page = (await unknown.content()).forms.identity.toString()
      const code = address.slice('/docs/errors/'.length)
      reply.code(404).header('cache-control', 'no-cache').header('content-type', 'text/html; charset=utf-8')
      return reply.send(page.replaceAll(unknownErrorName, () => escaped(code)))
    })
  }

  for (const url of ['/console', '/console/:screen', '/console/:screen/:id']) {
    server.get(url, async (request, reply) => {
      const [page] = (await readConsole())?.get('/console') ?? []
      if (page === undefined) return sendUnbuilt(reply)
      confine(reply, consolePolicy)
      // Other pages cannot navigate it, such as one that opened it.
      reply.header('cross-origin-opener-policy', 'same-origin')
      return send(page, '/console', request, reply)
    })
  }

  server.get('/console/assets/*', async (request, reply) => {
    const address = addressAt('/console/assets/*', request)
    const [file] = (await readConsole())?.get(address) ?? []
    return file === undefined ? refuse(request, reply) : send(file, address, request, reply)
  })
}

function addressAt(url: string, request: FastifyRequest): string {
  const { '*': rest = '' } = request.params as { readonly '*'?: string }
  // The folder itself, also with a trailing slash.
  return `${url.replace('*', '')}${rest}`.replace(/^(\/docs\/guides)\/$/, '$1')
}

/** The representation that the request prefers, by default the first. */
function preferredForm(forms: readonly SiteFile[], request: FastifyRequest, reply: FastifyReply): SiteFile {
  if (forms.length > 1) vary(reply, 'Accept')
  const types = forms.map(({ type }) => `${type}; charset=utf-8`)
  const type = new Negotiator(request).mediaType(types)
  return forms.find((_form, n) => types[n] === type) ?? (forms[0] as SiteFile)
}

async function send(
  { content }: SiteFile,
  address: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // An asset's name changes with its content.
  if (address.includes('/assets/')) sendUnchanging(request, reply, await content())
  else sendVersioned(request, reply, await content())
  return reply
}

function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const detail = `There is no ${pathOf(request)}; /docs and /llms.txt list what there is.`
  return sendProblem(reply, problem('not_found', detail))
}

function sendUnbuilt(reply: FastifyReply): FastifyReply {
  confine(reply, policyFor([]))
  return reply
    .code(503)
    .header('content-type', 'text/html; charset=utf-8')
    .send(
      '<!doctype html><title>Deskwire</title><p>The pages are not built here: run npm run build:pages, and start the service again.\n',
    )
}

function confine(reply: FastifyReply, policy: string): void {
  reply
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
}

/** Nothing from other hosts, no HTML from strings, no inline styles or scripts. */
function policyFor(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
