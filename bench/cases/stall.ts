/** How long the worst bodies and reads block the event loop of the API, by its `/metrics`. */
import { setTimeout as delay } from 'node:timers/promises'
import { install, type Organization, peakMegabytes, type RunningService } from '../harness/installation.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const mebibyte = 1024 * 1024
/** Slightly longer than `/metrics` is cached, in milliseconds. */
const figuresLast = 1_100

interface Asked {
  readonly name: string
  readonly method?: 'GET'
  readonly path: string
  /** The response's coding; default: none. */
  readonly coding?: 'br' | 'gzip'
  readonly expected: number
  readonly body?: () => string
}

export async function* stall({ runs }: Scale): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api', '--mcp', 'on'])
  const { service } = installation
  const owner = await installation.newOrganization()
  const customerId = await idOf(service, owner, '/v1/customers', { name: 'Ada' })
  const conversationId = await idOf(service, owner, '/v1/conversations', { customerId, channel: 'api' })
  // Loads what the first request loads.
  await send(service, owner, { ...hundredThousandFields, name: 'first' })
  for (const asked of [
    nothing,
    ...hostile(conversationId),
    ...lawful(customerId, conversationId),
    ...reads,
  ]) {
    const measured: Run[] = []
    let kilobytes = 0
    for (let run = 0; run < runs; run++) {
      await longestDelay(service)
      kilobytes = await send(service, owner, asked)
      measured.push({ value: await longestDelay(service) })
    }
    yield summarize(`stall: ${asked.name}`, 'ms', { 'KB sent': kilobytes, status: asked.expected }, measured)
  }
  const value = await peakMegabytes(service.pid)
  yield summarize('stall: peak memory of the API', 'MB', { 'one at a time': 'all of these' }, [{ value }])
}

/** The machine's own delay. */
const nothing: Asked = { name: 'next to nothing', method: 'GET', path: '/healthz', expected: 200 }

const hundredThousandFields: Asked = {
  name: '100,000 unknown fields in 1 MiB',
  path: '/v1/customers',
  expected: 422,
  body: () => fields(100_000),
}

function hostile(conversationId: string): Asked[] {
  const message = (body: string) =>
    JSON.stringify({ conversationId, direction: 'outbound', author: { type: 'system' }, body })
  return [
    hundredThousandFields,
    { ...hundredThousandFields, name: '3,500 unknown fields in less than 32 KiB', body: () => fields(3_500) },
    {
      name: 'a batch of 1,000 items of 1,700 unknown fields',
      path: '/v1/customers/batch',
      expected: 200,
      body: () => `{"items":[${Array(1_000).fill(fields(1_700)).join()}]}`,
    },
    {
      name: 'a batch of 16 MiB of {}',
      path: '/v1/customers/batch',
      expected: 422,
      body: () => `{"items":[${'{},'.repeat((16 * mebibyte) / 3 - 10)}{}]}`,
    },
    {
      name: 'a batch of one item with 16 MiB of {}',
      path: '/v1/customers/batch',
      expected: 200,
      body: () => `{"items":[{"x":[${'{},'.repeat((16 * mebibyte) / 3 - 10)}{}]}]}`,
    },
    {
      name: '60,000 custom attributes',
      path: '/v1/customers',
      expected: 422,
      body: () => `{"name":"x","customAttributes":${fields(60_000)}}`,
    },
    {
      name: '1 MiB of tags that are no strings',
      path: '/v1/customers',
      expected: 422,
      body: () => `{"name":"x","tags":[${Array(500_000).fill(1).join()}]}`,
    },
    {
      name: '1 MiB whose last name stands twice',
      path: '/v1/customers',
      expected: 400,
      body: () => fields(90_000).replace(/}$/, ',"x0":0}'),
    },
    {
      name: 'a message of 64,000 combining marks',
      path: '/v1/messages',
      expected: 201,
      body: () => message('\u0315\u0300\u05ae\u0301'.repeat(16_000)),
    },
    {
      name: 'a message of 15,000 combining marks, in less than 32 KiB',
      path: '/v1/messages',
      expected: 201,
      body: () => message('\u0315\u0300\u05ae\u0301'.repeat(3_750)),
    },
    {
      name: 'a message of 64,000 ligatures of 18 characters',
      path: '/v1/messages',
      expected: 201,
      body: () => message('\uFDFA'.repeat(64_000)),
    },
    {
      name: 'a message of 10,500 ligatures of 18 characters, in less than 32 KiB',
      path: '/v1/messages',
      expected: 201,
      body: () => message('\uFDFA'.repeat(10_500)),
    },
    {
      name: 'a tool call with 1 MiB of escapes',
      path: '/mcp',
      expected: 200,
      body: () => toolCall(JSON.stringify(conversationId), `"${'\\u00e9'.repeat(170_000)}"`),
    },
    {
      name: 'a tool call with 900 values of 1 KB that no tool takes',
      path: '/mcp',
      expected: 200,
      body: () =>
        toolCall(
          `[${Array(900)
            .fill(`"${'x'.repeat(1_000)}"`)
            .join()}]`,
          '0',
        ),
    },
  ]
}

function lawful(customerId: string, conversationId: string): Asked[] {
  const items = (count: number, item: (n: number) => object, operation = 'create') =>
    JSON.stringify({ operation, items: Array.from({ length: count }, (_, n) => item(n)) })
  return [
    {
      name: 'a batch of 1,000 tickets of 16 KB',
      path: '/v1/tickets/batch',
      expected: 200,
      body: () =>
        items(1_000, (n) => ({ customerId, subject: `Ticket ${n}`, description: 'word '.repeat(3_200) })),
    },
    {
      name: 'a batch of 80 tickets of 64,000 characters of 3 bytes',
      path: '/v1/tickets/batch',
      expected: 200,
      body: () =>
        items(
          80,
          (n) => ({
            customerId,
            externalId: `t${n}`,
            subject: `Ticket ${n}`,
            description: '語'.repeat(64_000),
          }),
          'upsert',
        ),
    },
    {
      name: 'a batch of 1,000 messages of 16 KB',
      path: '/v1/messages/batch',
      expected: 200,
      body: () =>
        items(1_000, (n) => ({
          conversationId,
          direction: 'outbound',
          author: { type: 'system' },
          body: `${n} ${'word '.repeat(3_200)}`,
        })),
    },
    {
      name: 'a batch of 1,000 customers with 50 attributes and 50 tags',
      path: '/v1/customers/batch',
      expected: 200,
      body: () =>
        items(1_000, (n) => ({
          name: `Customer ${n}`,
          tags: Array.from({ length: 50 }, (_, at) => `tag ${at}`),
          customAttributes: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key ${at}`, at])),
        })),
    },
    {
      name: 'an upsert of 4 KB that changes 80 tickets of 192 KB',
      path: '/v1/tickets/batch',
      expected: 200,
      body: () =>
        items(80, (n) => ({ externalId: `t${n}`, subject: `Ticket ${n} at ${performance.now()}` }), 'upsert'),
    },
  ]
}

const largeList: Asked = {
  name: 'a list of 100 tickets of 16 to 192 KB',
  method: 'GET',
  path: '/v1/tickets?limit=100',
  expected: 200,
}

const reads: readonly Asked[] = [
  largeList,
  { ...largeList, name: `${largeList.name}, as br`, coding: 'br' },
  { ...largeList, name: `${largeList.name}, as gzip`, coding: 'gzip' },
  {
    name: 'a sync page of 100 tickets of 16 to 192 KB',
    method: 'GET',
    path: '/v1/tickets?limit=100&updatedAfter=1970-01-01T00:00:00Z',
    expected: 200,
  },
  { name: 'an export of tickets of 16 to 192 KB', method: 'GET', path: '/v1/tickets/export', expected: 200 },
  {
    name: 'q of combining marks',
    method: 'GET',
    path: `/v1/customers?q=${encodeURIComponent('\u0315\u0300\u05ae\u0301'.repeat(60))}a`,
    expected: 200,
  },
]

/** Of a note, with these values in JSON. */
function toolCall(conversationId: string, body: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_note","arguments":{"conversationId":${conversationId},"body":${body}}}}`
}

/** An object with so many unknown fields. */
function fields(count: number): string {
  return `{${Array.from({ length: count }, (_, n) => `"x${n.toString(36)}":0`).join()}}`
}

/** Sends it and reads the whole response; returns the KB sent. */
async function send({ url }: RunningService, { token }: Organization, asked: Asked): Promise<number> {
  const body = asked.body?.()
  const answer = await fetch(url + asked.path, {
    method: asked.method ?? 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'accept-encoding': asked.coding ?? 'identity',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  })
  let bytes = 0
  for await (const piece of answer.body ?? []) bytes += piece.length
  if (answer.status !== asked.expected)
    throw new Error(`${asked.name}: ${answer.status} after ${bytes} bytes, not ${asked.expected}`)
  return Math.round(Buffer.byteLength(body ?? '') / 1000)
}

async function idOf(
  { url }: RunningService,
  { token }: Organization,
  path: string,
  object: object,
): Promise<string> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(object),
  })
  return ((await answer.json()) as { id: string }).id
}

/** The monitor's interval in milliseconds, which is a part of every measured delay. */
const resolution = 10

/** The longest delay of the API's event loop since the last call, in milliseconds. */
async function longestDelay({ url }: RunningService): Promise<number> {
  // The metrics are cached for a second.
  await delay(figuresLast)
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = /^nodejs_eventloop_lag_max_seconds\{process="api"\} (\S+)$/m.exec(text)?.[1]
  if (found === undefined) throw new Error('the API tells no delay of its event loop')
  return Math.max(0, Number(found) * 1_000 - resolution)
}
