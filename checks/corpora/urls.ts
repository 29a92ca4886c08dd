/**
 * WHATWG's URLs, as addresses of endpoints: what is none, or could mean another address than it shows, is refused; what
 * is taken is called exactly as the standard reads it.
 */
import { readFileSync } from 'node:fs'
import { createClient } from '@deskwire/sdk'
import { eventually } from '../../packages/testbed/eventually.ts'
import { type Desk, inWords } from './desk.ts'
import { type Row, Tally } from './matrix.ts'

const { urls } = JSON.parse(readFileSync(new URL('urls.json', import.meta.url), 'utf8')) as {
  readonly urls: readonly (readonly [input: string, href?: string])[]
}

export async function urlRow(desk: Desk): Promise<Row> {
  // Most are of http: the same with https.
  const all = [
    ...urls,
    ...urls
      .filter(([input]) => /^http:/i.test(input))
      .map(([input, href]): readonly [string, string?] => {
        const secure = input.replace(/^http:/i, 'https:')
        const means = href === undefined ? undefined : URL.parse(secure)?.href
        return means === undefined ? [secure] : [secure, means]
      }),
  ]
  const api = new Tally()
  for (const [input, href] of all) api.count(input, ...(await register(input, href, desk)))
  return {
    corpus: "WHATWG's URL tests",
    cells: {
      API: api,
      query: 'A query has no URL.',
      import: 'Endpoints are not imported.',
      mirror: 'Endpoints are not mirrored.',
      webhook: await targets(all, desk),
      MCP: 'The check of a subscription is that of an endpoint.',
      SDK: bases(all),
      console: 'Its form calls the API.',
    },
  }
}

async function register(
  input: string,
  href: string | undefined,
  desk: Desk,
): Promise<[string | null, boolean]> {
  const answer = await desk.call('POST', '/v1/webhooks', { url: input, events: ['customer.created'] })
  const { status, text, json } = answer
  if (status !== 201) {
    return [inWords(answer) ? null : `${status} ${text}`, true]
  }
  await desk.call('DELETE', `/v1/webhooks/${json.id}`)
  if (href === undefined) return ['it is no URL, and is taken', false]
  const { protocol, username, hash, hostname } = new URL(href)
  if (protocol !== 'https:' || username !== '' || hash !== '') return [`it is taken as ${href}`, false]
  // No other name is resolved here, and no other network is trusted.
  if (hostname !== 'localhost' && !hostname.startsWith('127.')) return [`it is taken, at ${hostname}`, false]
  return [json.url === input ? null : `it became ${json.url}`, false]
}

/** The paths and queries, at a receiver on the loopback. */
async function targets(
  all: readonly (readonly [input: string, href?: string])[],
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  const rests = new Set(all.flatMap(([input]) => /^https?:\/\/[^/?#\\]*(.*)$/is.exec(input)?.[1] ?? []))
  for (const rest of rests) {
    const url = desk.hooks.url.replace(/\/$/, rest.startsWith('/') ? '' : '/') + rest
    const answer = await desk.call('POST', '/v1/webhooks', { url, events: ['customer.created'] })
    const { status, text, json } = answer
    if (status !== 201) {
      tally.count(url, inWords(answer) ? null : `${status} ${text}`, true)
      continue
    }
    const before = desk.hooks.arrivals.length
    await desk.call('POST', `/v1/webhooks/${json.id}/ping`)
    await eventually('the ping arrives', () => desk.hooks.arrivals.length > before)
    const { pathname, search } = new URL(url)
    const called = `/${desk.hooks.arrivals.at(-1)?.endpoint}`
    const isSame = called === pathname + search
    tally.count(url, isSame ? null : `${called} was called instead of ${pathname}${search}`)
    await desk.call('DELETE', `/v1/webhooks/${json.id}`)
  }
  return tally
}

/** As the base address of a client. */
function bases(all: readonly (readonly [input: string, href?: string])[]): Tally {
  const tally = new Tally()
  for (const [input] of all) {
    try {
      createClient({ baseUrl: input, apiKey: 'dwk_key' })
      // By the parser of the platform, which may follow a later version of the standard.
      const isHttp = /^https?:$/.test(URL.parse(input)?.protocol ?? '')
      tally.count(input, isHttp ? null : 'it is taken as a base address')
    } catch (error) {
      const isRefused = error instanceof TypeError && /\w{3}/.test(error.message)
      tally.count(input, isRefused ? null : String(error), true)
    }
  }
  return tally
}
