/** The commands of `docs/guides/moving-in.md` against servers that answer as Zendesk and Intercom document it. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startHttpServer } from '../../../../testbed/loopback.ts'
import { textOf } from '../../../../testbed/repository.ts'
import { sharedService } from '../../../../testbed/shared-service.ts'
import { pauseAfter } from '../../../src/import/sources/download.ts'
import { runHere } from '../../run-here.ts'
import { importInto, type Row, rowsOf } from './desk.ts'
import { admins, companies, contacts, conversationsOf, tags } from './intercom-account.ts'
import { agents, groups, organizations, ticketFields, ticketsOf, users } from './zendesk-account.ts'

const shared = sharedService()

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-apis-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return join(directory, 'account')
}

/** The words of a command of the guide, with the address of the account replaced. */
function guided(source: string, url: string): string[] {
  const line = textOf('docs/guides/moving-in.md').match(
    new RegExp(`^npx deskwire import (${source} https:\\S+)$`, 'm'),
  )
  return (line?.[1] ?? '').split(' ').map((word) => (word.startsWith('https:') ? url : word))
}

type Answer = Row | number | { readonly status: number; readonly headers: Record<string, string> }

/** `answer` is asked for each request by its path and query, and gives a page, or a status. */
async function startApi(authorization: string, answer: (path: string, query: URLSearchParams) => Answer) {
  const asked: string[] = []
  const server = await startHttpServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://x')
    asked.push(request.url ?? '')
    const given =
      request.headers.authorization === authorization ? answer(url.pathname, url.searchParams) : 401
    if (typeof given === 'number') response.writeHead(given).end('{"error":"x"}')
    else if ('headers' in given && typeof given.status === 'number')
      response.writeHead(given.status, given.headers).end('{}')
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given))
  })
  return { ...server, asked }
}

const tickets = ticketsOf(40) as readonly Row[]
const seconds = (time: string) => Date.parse(time) / 1_000
/** Comments as ticket events have them, oldest first. */
const events: readonly Row[] = tickets
  .flatMap(({ id, comments }) =>
    comments.map((comment: Row) => ({
      id: 1_000_000 + comment.id,
      ticket_id: id,
      timestamp: seconds(comment.created_at),
      created_at: comment.created_at,
      updater_id: comment.author_id,
      event_type: 'Audit',
      child_events: [
        { id: 5_000_000 + comment.id, event_type: 'Change', status: 'open', previous_value: 'new' },
        { ...comment, event_type: 'Comment', audit_id: 1_000_000 + comment.id },
      ],
    })),
  )
  .sort((a, b) => a.timestamp - b.timestamp)

const basic = `Basic ${Buffer.from('admin@desk.example/token:secret').toString('base64')}`
const zendeskSettings = { ZENDESK_EMAIL: 'admin@desk.example', ZENDESK_API_TOKEN: 'secret' }

/** An account of Zendesk. `fails` is asked for each request and may answer instead. */
function startZendesk(fails: (path: string, query: URLSearchParams) => Answer | null = () => null) {
  const people = [...agents, ...users]
  const cursor = (name: string, all: readonly unknown[], size: number, query: URLSearchParams) => {
    const from = query.get('cursor') === null ? 0 : Number(query.get('cursor'))
    if (query.get('cursor') === null && query.get('start_time') !== '0') return 400
    const end = from + size
    return {
      [name]: all.slice(from, end),
      after_cursor: String(end),
      after_url: 'https://elsewhere.example/',
      end_of_stream: end >= all.length,
    }
  }
  return startApi(basic, (path, query) => {
    const failure = fails(path, query)
    if (failure !== null) return failure
    switch (path) {
      case '/api/v2/incremental/organizations.json':
        return { organizations, count: 2, end_time: 99, end_of_stream: true, next_page: null }
      case '/api/v2/groups.json':
        return { groups, meta: { has_more: false, after_cursor: null }, links: { next: null } }
      case '/api/v2/ticket_fields.json': {
        const n = Number(query.get('page[after]') ?? 0)
        return {
          ticket_fields: ticketFields.slice(n, n + 1),
          meta: { has_more: n < 1, after_cursor: String(n + 1) },
        }
      }
      case '/api/v2/incremental/users/cursor.json':
        return cursor('users', people, 100, query)
      case '/api/v2/incremental/tickets/cursor.json':
        return query.get('include') === 'dates'
          ? cursor(
              'tickets',
              tickets.map(({ comments: _, ...ticket }) => ticket),
              15,
              query,
            )
          : 400
      case '/api/v2/incremental/ticket_events.json': {
        if (query.get('include') !== 'comment_events') return 400
        // Pages begin with the second at which the page before ended.
        const left = events.filter(({ timestamp }) => timestamp >= Number(query.get('start_time')))
        const page = left.slice(0, 30)
        return {
          ticket_events: page,
          count: page.length,
          end_time: page.at(-1)?.timestamp,
          end_of_stream: left.length <= 30,
        }
      }
      default:
        return 404
    }
  })
}

test('an account of Zendesk arrives from its API as it does from files, at the pace that it allows', async () => {
  let refused = 0
  await using zendesk = await startZendesk((path) =>
    path.includes('tickets') && refused++ % 3 === 0 ? { status: 429, headers: { 'retry-after': '0' } } : null,
  )
  const directory = newDirectory()
  const api = await shared().newOrganization()
  const words = [...guided('zendesk', zendesk.url), '--dir', directory]
  expect(words).toHaveLength(4)
  const first = await importInto(shared(), api, words, zendeskSettings)
  expect([first.code, first.stderr]).toEqual([3, expect.any(String)])
  const rows = await rowsOf(shared(), api)
  const alive = tickets.filter(({ status }) => status !== 'deleted')
  expect(rows.tickets.map(({ number }) => number).sort((a, b) => a - b)).toEqual(alive.map(({ id }) => id))
  expect(rows.tickets.find(({ number }) => number === 1)?.customAttributes.Product).toBe('prod_a')
  const said = alive
    .flatMap(({ comments }) => comments)
    .filter(({ body, html_body, attachments }: Row) => body || html_body || attachments.length > 0)
  const pieces = new Set(
    rows.messages.map(({ externalId }) => externalId.replace(/^(zendesk-\d+)-\d+$/, '$1')),
  )
  expect(pieces).toEqual(new Set(said.filter((one: Row) => one.public).map(({ id }: Row) => `zendesk-${id}`)))
  expect(rows.notes.length).toBeGreaterThanOrEqual(said.filter((one: Row) => !one.public).length)
  expect(rows.messages.some(({ author }) => author.type === 'teammate' && author.id !== undefined)).toBe(true)

  // What was downloaded is imported again, without notes that double.
  const asked = zendesk.asked.length
  const again = await importInto(shared(), api, words, zendeskSettings)
  for (const { created } of Object.values(again.summary.rows) as Row[]) expect(created).toBe(0)
  expect(await rowsOf(shared(), api)).toEqual(rows)
  expect(zendesk.asked).toHaveLength(asked)
  const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o077)
  expect(new Set(modes)).toEqual(new Set([0]))
})

test('a download that was interrupted goes on at its page', async () => {
  let isDown = true
  await using zendesk = await startZendesk((path, query) =>
    isDown && path.includes('users') && query.get('cursor') === '100' ? 404 : null,
  )
  const directory = newDirectory()
  const words = ['zendesk', zendesk.url, '--dir', directory, '--dry-run']
  const run = () => runHere(['import', ...words], { settings: zendeskSettings })
  const first = await run()
  expect([first.code, first.stderr]).toEqual([
    1,
    expect.stringMatching(/users\/cursor\.json\?cursor=100 answers 404: /),
  ])
  isDown = false
  const asked = zendesk.asked.length
  const second = await run()
  expect([second.code, second.stdout]).toEqual([
    3,
    expect.stringMatching(/^Zendesk: 5 agents, .* 40 tickets, /),
  ])
  expect(
    zendesk.asked.slice(asked).filter((path) => /start_time=0.*/.test(path) && path.includes('users')),
  ).toEqual([])
  expect(zendesk.asked.filter((path) => path.includes('organizations'))).toHaveLength(1)
})

test('a download that is interrupted says how to go on', async () => {
  await using zendesk = await startZendesk((path) => {
    if (!path.includes('users')) return null
    process.emit('SIGTERM')
    return { status: 503, headers: { 'retry-after': '600' } }
  })
  const words = ['zendesk', zendesk.url, '--dir', newDirectory(), '--dry-run']
  const { code, stderr } = await runHere(['import', ...words], { settings: zendeskSettings })
  expect([code, stderr]).toEqual([130, 'deskwire: interrupted: run the same command again to go on\n'])
})

test('names that the plan of an account does not give out are no reason to stop', async () => {
  await using zendesk = await startZendesk((path) => (/groups|organizations/.test(path) ? 403 : null))
  const words = ['zendesk', zendesk.url, '--dir', newDirectory(), '--dry-run']
  const { code, stderr, stdout } = await runHere(['import', ...words], { settings: zendeskSettings })
  expect([code, stdout]).toEqual([3, expect.stringMatching(/ 40 tickets, /)])
  expect(
    stderr.match(/refuses the credentials \(403\).*; the import goes on without these names/g),
  ).toHaveLength(2)
})

test('a workspace of Intercom arrives from its API, each conversation with its parts', async () => {
  const all = conversationsOf(30) as readonly Row[]
  const page = (list: readonly unknown[], size: number, query: URLSearchParams, name: string) => {
    const from = Number(query.get('starting_after') ?? 0)
    const next = from + size < list.length ? { per_page: size, starting_after: String(from + size) } : null
    return {
      type: 'list',
      [name]: list.slice(from, from + size),
      pages: { type: 'pages', next, total_pages: 2 },
    }
  }
  let refused = 0
  await using server = await startApi('Bearer secret', (path, query) => {
    const id = /^\/conversations\/(\d+)$/.exec(path)?.[1]
    if (id !== undefined) {
      if (refused++ === 3) return { status: 429, headers: { 'retry-after': '0' } }
      return all.find((one) => one.id === id) ?? 404
    }
    switch (path) {
      case '/admins':
        return { type: 'admin.list', admins }
      case '/tags':
        return { type: 'list', data: tags }
      case '/companies/scroll':
        return {
          type: 'list',
          data: query.get('scroll_param') === null ? companies : [],
          scroll_param: 'more',
        }
      case '/contacts':
        return page(contacts, 100, query, 'data')
      case '/conversations':
        return page(
          all.map(({ conversation_parts: _, ...one }) => one),
          20,
          query,
          'conversations',
        )
      default:
        return 404
    }
  })
  const api = await shared().newOrganization()
  const words = [...guided('intercom', server.url), '--dir', newDirectory()]
  expect(words).toHaveLength(4)
  const { code, summary } = await importInto(shared(), api, words, { INTERCOM_TOKEN: 'secret' })
  expect([code, summary.read]).toEqual([3, expect.objectContaining({ admins: 3, conversations: 30 })])
  const rows = await rowsOf(shared(), api)
  expect(rows.conversations).toHaveLength(30)
  expect(rows.customers.some(({ company }) => company === 'Analytical Engines')).toBe(true)
})

test('addresses and credentials that cannot be used are refused before anything is sent', async () => {
  const run = (words: string[], settings = {}) => runHere(['import', ...words, '--dry-run'], { settings })
  const refusals = [
    [await run(['zendesk', 'https://example.zendesk.com']), 2, /set ZENDESK_EMAIL and ZENDESK_API_TOKEN/],
    [await run(['intercom', 'https://api.intercom.io']), 2, /set INTERCOM_TOKEN/],
    [await run(['zendesk', 'http://example.zendesk.com'], zendeskSettings), 2, /by https only/],
    [
      await run(['zendesk', 'https://example.zendesk.com', 'a.json'], zendeskSettings),
      2,
      /one URL, or files/,
    ],
    [await run(['zendesk', 'a.json', '--dir', 'x'], zendeskSettings), 2, /--dir goes with a URL/],
    [await run(['zendesk']), 2, /needs files, or the URL/],
  ] as const
  for (const [{ code, stderr }, expected, message] of refusals)
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)])

  await using zendesk = await startZendesk()
  const directory = newDirectory()
  const wrong = await run(['zendesk', zendesk.url, '--dir', directory], {
    ...zendeskSettings,
    ZENDESK_API_TOKEN: 'other',
  })
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(/refuses the credentials \(401\): check ZENDESK_EMAIL and ZENDESK_API_TOKEN/),
  ])
  await using elsewhere = await startApi(basic, () => ({ status: 302, headers: { location: zendesk.url } }))
  const asked = zendesk.asked.length
  const moved = await run(['zendesk', elsewhere.url, '--dir', newDirectory()], zendeskSettings)
  expect([moved.code, moved.stderr]).toEqual([1, expect.stringMatching(/redirects to http/)])
  expect(zendesk.asked).toHaveLength(asked)
  await using page = await startHttpServer((_, response) => response.end('<html>'))
  const html = await run(['zendesk', page.url, '--dir', newDirectory()], zendeskSettings)
  expect([html.code, html.stderr]).toEqual([
    1,
    expect.stringMatching(/does not answer an object of JSON: "<html>"/),
  ])
  const foreign = await run(['zendesk', zendesk.url, '--dir', join(directory, '..')], zendeskSettings)
  expect([foreign.code, foreign.stderr]).toEqual([
    1,
    expect.stringMatching(/has files and no download\.json/),
  ])
  expect(existsSync(join(directory, 'users.json'))).toBe(false)
})

test.each([
  ['Retry-After', 429, { 'retry-after': '93' }, 93_000],
  ['Retry-After of an outage', 503, { 'retry-after': '5' }, 5_000],
  ['X-RateLimit-Reset', 429, { 'x-ratelimit-reset': '1010' }, 11_000],
  ['neither', 429, {}, 2_000],
  ['an outage', 500, {}, 2_000],
  ['a refusal', 403, { 'retry-after': '1' }, null],
])('waits as %s asks for', (_, status, headers, pause) => {
  expect(pauseAfter({ status, headers: new Headers(headers) }, 2, 1_000_000)).toBe(pause)
})
