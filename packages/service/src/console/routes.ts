/**
 * The console at `/console`: one page for every address below, which finds out by itself what to show, and what it loads. It
 * needs no key; what it shows it asks the API for, with the key that its reader has given it.
 */
import { first, sendUnchanging, sendVersioned, versioned } from '../docs/sending.ts'
import { refused } from '../http/replies.ts'
import { type Answered, type Call, routesOf } from '../http/route.ts'
import { problem } from '../kernel/errors.ts'
import type { Parameter } from '../openapi/part.ts'
import { type ConsoleFiles, readConsole } from './files.ts'

interface Console {
  readonly files: () => Promise<ConsoleFiles | null>
  /** The policy that the page is sent with. */
  readonly policy: string
}

interface ConsoleOptions {
  /** What `npm run build:console` has made. */
  readonly directory: URL
  /** Origins whose pages may show it in a frame (`https://app.example`); none unless told. */
  readonly frameAncestors?: readonly string[]
}

export function createConsole({ directory, frameAncestors = [] }: ConsoleOptions): Console {
  return { files: first(() => readConsole(directory)), policy: policyFor(frameAncestors) }
}

/** Nothing comes from elsewhere or goes there, nothing is made of text but text, and no style or script stands in the page. */
function policyFor(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const route = routesOf<Console>()
const common = { method: 'get', tag: 'service', access: 'public' } as const
const answers = {
  200: {
    description: 'The page. What it shows of the organization it asks for by itself, with a key.',
    mediaType: 'text/html',
    schema: { type: 'string' },
    headers: ['Cache-Control'],
  },
  304: {
    description: 'Not changed: If-None-Match names the current version.',
    headers: ['Cache-Control'],
  },
  503: {
    description: 'The console has not been built in this checkout; the page says how.',
    mediaType: 'text/html',
    schema: { type: 'string' },
  },
} as const

const start = route({
  ...common,
  path: '/console',
  id: 'getConsole',
  summary: 'The console',
  answers,
  handle: sendPage,
})

const screen = route({
  ...common,
  path: '/console/{screen}',
  id: 'getConsoleScreen',
  summary: 'A screen of the console',
  params: [text('screen', 'Which one.', 'deliveries')],
  answers,
  handle: sendPage,
})

const object = route({
  ...common,
  path: '/console/{screen}/{id}',
  id: 'getConsoleObject',
  summary: 'An object on a screen of the console',
  params: [
    text('screen', 'Which screen.', 'deliveries'),
    text('id', 'Its id.', '01980000-0000-7000-8000-000000000003'),
  ],
  answers,
  handle: sendPage,
})

const asset = route({
  ...common,
  path: '/console/assets/{file}',
  id: 'getConsoleAsset',
  summary: 'What the console loads',
  params: [text('file', 'A name as the page has it; it changes with the content.', 'index.js')],
  answers: {
    200: { description: 'What the console loads.', mediaType: '*/*', schema: {}, headers: ['Cache-Control'] },
  },
  errors: ['not_found'],
  async handle({ files }, { request, reply, params: { file } }) {
    const found = (await files())?.assets.get(file)
    if (found !== undefined) return sendUnchanging(request, reply, found)
    return refused(
      problem(
        'not_found',
        `There is no ${file} here; the page at /console names what there is. Load it again.`,
      ),
    )
  },
})

export const consoleRoutes = [start, screen, object, asset]

const unbuilt = first(() =>
  versioned(
    '<!doctype html><title>Deskwire console</title><p>The console is not built here: run npm run build:console, and load this page again.\n',
    'text/html',
  ),
)

async function sendPage(
  { files, policy }: Console,
  { request, reply }: Pick<Call, 'request' | 'reply'>,
): Promise<Answered> {
  const built = await files()
  reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    // A page that opened it, or that it opens, cannot navigate it: to a link, for example.
    .header('cross-origin-opener-policy', 'same-origin')
  if (built === null) reply.code(503)
  return sendVersioned(request, reply, built?.page ?? (await unbuilt()))
}

function text(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: { type: 'string', examples: [example] } }
}
