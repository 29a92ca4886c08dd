/** Serves prebuilt pages: documentation, and the console below `/console`. No key; nothing from other hosts. */

import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { vary } from '../http/compression.ts'
import { sendProblem } from '../http/problem-reply.ts'
import { pathOf } from '../http/replies.ts'
import { first, sendUnchanging, sendVersioned, type Versioned, versioned } from '../http/static-content.ts'
import { problem } from '../kernel/errors.ts'

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

/** The output of `npm run build:pages`, in a checkout and in the package. */
export const builtConsole = new URL('../../assets/console', import.meta.url)
export const builtDocs = new URL('../../assets/docs', import.meta.url)

/** The page for unknown error codes, and its placeholder for the code. */
export const unknownErrorFile = '/unknown-error'
export const unknownErrorName = '{code}'

interface SiteFile {
  readonly type: MediaType
  /** Read and compressed for the first request, then cached. */
  readonly content: () => Promise<Versioned>
}

/** The representations of each path, the default first. */
type Site = ReadonlyMap<string, readonly SiteFile[]>

const mediaTypes = {
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.json': 'application/json',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain',
} as const
type MediaType = (typeof mediaTypes)[keyof typeof mediaTypes]
const preference = Object.values(mediaTypes)

/** `a/index.html` is at `BASE/a`; `b.md.html` is a representation of `b.md`. Null when nothing is built. */
async function readSite(directory: URL, base: string): Promise<Site | null> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true }).catch(absent)
  if (names === null) return null
  const root = fileURLToPath(directory)
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = files.map((path) => {
    // Other extensions are samples, shown as text.
    const type = mediaTypes[extname(path) as keyof typeof mediaTypes] ?? 'text/plain'
    const sent = /^(?:text|application)/.test(type) ? `${type}; charset=utf-8` : type
    const content = first(async () => versioned(await readFile(path), sent))
    return { address: addressOf(`${base}/${relative(root, path).replaceAll(sep, '/')}`), type, content }
  })
  const inOrder = found.sort((a, b) => preference.indexOf(a.type) - preference.indexOf(b.type))
  return Map.groupBy(inOrder, ({ address }) => address)
}

function addressOf(path: string): string {
  return path.replace(/\/index\.\w+$|\.html$/, '') || '/'
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
