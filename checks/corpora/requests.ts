/**
 * Requests that servers and proxies read in different ways, by the classes of fault that the HTTP Garden lists. One that
 * could be read as two must end its connection, or get one response: never two. A target is also what a client may write in
 * the first line of a request.
 */
import { eventually } from '../../packages/testbed/eventually.ts'
import type { Desk } from './desk.ts'
import { type Row, short, Tally } from './matrix.ts'

interface Odd {
  readonly name: string
  /** `HOST`, `AUTH` and `TYPE` are lines that a request needs; the rest is sent as it is, in latin1. */
  readonly bytes: string
  /** The statuses that may be answered, one list for each response. */
  readonly statuses: readonly (readonly number[])[]
}

const bad = [[400]] as const
const body = '{"name":"Odd"}'
const length = `Content-Length: ${body.length}`
const post = 'POST /v1/customers HTTP/1.1\r\nHOST\r\nAUTH\r\nTYPE\r\n'
const get = 'GET /v1/customers?limit=1 HTTP/1.1\r\nHOST\r\nAUTH\r\n'
const chunked = 'Transfer-Encoding: chunked'
const whole = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** With these lines instead of the length of the body, followed by the body. */
const sent = (lines: string, rest = body) => `${post}${lines}\r\n\r\n${rest}`

const odd: readonly Odd[] = [
  { name: 'as it should be', bytes: sent(length), statuses: [[201]] },
  { name: 'chunked, as it should be', bytes: sent(chunked, whole), statuses: [[201]] },
  { name: 'two in one write', bytes: `${get}\r\n${get}\r\n`, statuses: [[200], [200]] },

  // Two lengths.
  { name: 'length and chunks', bytes: sent(`${length}\r\n${chunked}`, whole), statuses: bad },
  { name: 'chunks and length', bytes: sent(`${chunked}\r\n${length}`, whole), statuses: bad },
  { name: 'two lengths that differ', bytes: sent(`${length}\r\nContent-Length: 3`), statuses: bad },
  { name: 'the same length twice', bytes: sent(`${length}\r\n${length}`), statuses: bad },
  { name: 'a list of lengths', bytes: sent(`${length}, ${body.length}`), statuses: bad },
  ...[
    '+14',
    '-1',
    '0x0e',
    '14 14',
    '1_4',
    '14.0',
    '14,',
    '',
    '١٤',
    '18446744073709551630',
    '\x0b14',
    '14\x0c',
  ].map((value) => ({
    name: `the length ${JSON.stringify(value)}`,
    bytes: sent(`Content-Length: ${value}`),
    statuses: bad,
  })),
  {
    name: 'a length with zeros before it',
    bytes: sent(`Content-Length: 0${body.length}`),
    statuses: [[201, 400]],
  },
  { name: 'a length without a space', bytes: sent(`Content-Length:${body.length}`), statuses: [[201]] },
  { name: 'a space before the colon', bytes: sent(`Content-Length : ${body.length}`), statuses: bad },
  { name: 'a tab before the colon', bytes: sent(`Content-Length\t: ${body.length}`), statuses: bad },
  {
    name: 'an underscore for a hyphen',
    bytes: `${sent('Content_Length: 14', '')}${get}\r\n`,
    statuses: [[400, 422], [200]],
  },
  { name: 'U+0000 in the name', bytes: sent(`Content-\0Length: ${body.length}`), statuses: bad },
  { name: 'a name of nothing', bytes: sent(`: x\r\n${length}`), statuses: bad },
  { name: 'a name that is not ASCII', bytes: sent(`X-\xc3\xa9: x\r\n${length}`), statuses: bad },

  // Codings.
  ...[
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    'gzip, chunked',
    'chunked, chunked',
    '"chunked"',
    'chunked;a=b',
    '\x0bchunked',
    'chunked\x00',
    'chunked\xa0',
    'identity',
    '',
  ].map((value) => ({
    name: `the coding ${JSON.stringify(value)}`,
    bytes: sent(`Transfer-Encoding: ${value}`, whole),
    statuses: [[400, 501]],
  })),
  { name: 'the coding in capitals', bytes: sent('TRANSFER-ENCODING: CHUNKED', whole), statuses: [[201]] },
  {
    name: 'two headers of codings',
    bytes: sent(`${chunked}\r\nTransfer-Encoding: identity`, whole),
    statuses: bad,
  },
  {
    name: 'two headers of codings, the last chunked',
    bytes: sent(`Transfer-Encoding: identity\r\n${chunked}`, whole),
    statuses: bad,
  },
  {
    name: 'chunks in HTTP/1.0',
    bytes: sent(chunked, whole).replace('HTTP/1.1', 'HTTP/1.0'),
    statuses: [[201, 400]],
  },

  // Chunks.
  ...[
    '0x0e',
    '+e',
    '-e',
    'e ',
    ' e',
    'e\t',
    '\te',
    'g',
    '',
    '1 4',
    '_e',
    'ffffffffffffffff0',
    '10000000000000000e',
    'e\x00',
  ].map((size) => ({
    name: `the size ${JSON.stringify(size)} of a chunk`,
    bytes: sent(chunked, `${size}\r\n${body}\r\n0\r\n\r\n`),
    statuses: bad,
  })),
  { name: 'zeros before a size', bytes: sent(chunked, `000e\r\n${body}\r\n000\r\n\r\n`), statuses: [[201]] },
  {
    name: 'the extension of a chunk',
    bytes: sent(chunked, `e;a=b\r\n${body}\r\n0\r\n\r\n`),
    statuses: [[201]],
  },
  {
    name: 'an extension in quotes',
    bytes: sent(chunked, `e;a="b"\r\n${body}\r\n0\r\n\r\n`),
    statuses: [[201]],
  },
  { name: 'an extension with LF alone', bytes: sent(chunked, `e;a\n${body}\r\n0\r\n\r\n`), statuses: bad },
  {
    name: 'an extension with CR alone',
    bytes: sent(chunked, `e;a\rb\r\n${body}\r\n0\r\n\r\n`),
    statuses: bad,
  },
  { name: 'LF alone after a size', bytes: sent(chunked, `e\n${body}\r\n0\r\n\r\n`), statuses: bad },
  { name: 'LF alone after a chunk', bytes: sent(chunked, `e\r\n${body}\n0\r\n\r\n`), statuses: bad },
  {
    name: 'two bytes for the line end of a chunk',
    bytes: sent(chunked, `e\r\n${body}XX0\r\n\r\n`),
    statuses: bad,
  },
  { name: 'CR alone for the last line', bytes: sent(chunked, `e\r\n${body}\r\n0\r\rX`), statuses: bad },
  { name: 'a trailer', bytes: sent(chunked, `e\r\n${body}\r\n0\r\nX-Sum: 1\r\n\r\n`), statuses: [[201]] },
  {
    name: 'a trailer that is a length',
    bytes: `${sent(chunked, `e\r\n${body}\r\n0\r\nContent-Length: 3\r\n\r\n`)}${get}\r\n`,
    statuses: bad,
  },
  {
    name: 'a trailer with a space before the colon',
    bytes: sent(chunked, `e\r\n${body}\r\n0\r\nX : 1\r\n\r\n`),
    statuses: bad,
  },
  {
    name: 'a megabyte of extensions',
    bytes: sent(chunked, `e;${'a'.repeat(1_000_000)}\r\n${body}\r\n0\r\n\r\n`),
    statuses: [[413, 400]],
  },

  // Lines.
  { name: 'a folded header', bytes: sent(`X-Note: a\r\n b\r\n${length}`), statuses: bad },
  { name: 'a folded length', bytes: sent(`Content-Length:\r\n ${body.length}`), statuses: bad },
  {
    name: 'a first header that begins with a space',
    bytes: `GET /v1/customers HTTP/1.1\r\n X: 1\r\nHOST\r\nAUTH\r\n\r\n`,
    statuses: bad,
  },
  { name: 'LF alone between headers', bytes: `${get.replaceAll('\r\n', '\n')}\n`, statuses: bad },
  { name: 'CR alone between headers', bytes: `GET / HTTP/1.1\rHOST\r\r`, statuses: bad },
  {
    name: 'CR alone in a value',
    bytes: `${get}X-Note: a\rTransfer-Encoding: chunked\r\n\r\n`,
    statuses: bad,
  },
  { name: 'LF alone after a value', bytes: `${get}X-Note: a\nX-Other: b\r\n\r\n`, statuses: bad },
  { name: 'U+0000 in a value', bytes: `${get}X-Note: a\0b\r\n\r\n`, statuses: bad },
  { name: 'a line without a colon', bytes: `${get}Whatever\r\n\r\n`, statuses: bad },
  { name: 'empty lines before the request', bytes: `\r\n\r\n${get}\r\n`, statuses: [[200]] },
  { name: 'a line end after a body', bytes: `${sent(length)}\r\n${get}\r\n`, statuses: [[201], [200]] },
  { name: 'more than the length', bytes: `${sent(length)}GARBAGE`, statuses: [[201]] },

  // First lines.
  { name: 'no version', bytes: 'GET /v1/customers\r\n\r\n', statuses: bad },
  { name: 'a tab for a space', bytes: `${get.replace('GET ', 'GET\t')}\r\n`, statuses: bad },
  {
    name: 'two spaces before the version',
    bytes: `${get.replace(' HTTP', '  HTTP')}\r\n`,
    statuses: [[200, 400]],
  },
  { name: 'a space after the version', bytes: `${get.replace('HTTP/1.1', 'HTTP/1.1 ')}\r\n`, statuses: bad },
  ...[
    'HTTP/1.2',
    'HTTP/2.0',
    'HTTP/3.0',
    'HTTP/0.9',
    'http/1.1',
    'HTTP/1.10',
    'HTTP/11',
    'HTTQ/1.1',
    'ICE/1.0',
  ].map((version) => ({
    name: `the version ${version}`,
    bytes: `${get.replace('HTTP/1.1', version)}\r\n`,
    statuses: [[400, 505]],
  })),
  { name: 'a method in small letters', bytes: `${get.replace('GET', 'get')}\r\n`, statuses: bad },
  { name: 'a method with a character more', bytes: `${get.replace('GET', 'GET\0')}\r\n`, statuses: bad },
  { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', statuses: bad },
  { name: 'a hello of TLS', bytes: '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1', statuses: bad },
  {
    name: 'OPTIONS *',
    bytes: 'OPTIONS * HTTP/1.1\r\nHOST\r\nAUTH\r\n\r\n',
    statuses: [[204, 400, 404, 405]],
  },
  {
    name: 'an authority as the target',
    bytes: 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
    statuses: [],
  },

  // Hosts.
  { name: 'no host', bytes: get.replace('HOST\r\n', '').concat('\r\n'), statuses: bad },
  { name: 'two hosts', bytes: `${get}Host: evil.example\r\n\r\n`, statuses: bad },
  {
    name: 'an absolute address of another host',
    bytes: `${get.replace('/v1', 'http://evil.example/v1')}\r\n`,
    statuses: [[200, 400, 404, 421]],
  },
  ...['a b', 'a/b', 'a@b', 'a:b:c', '[::1', 'a,b', 'evil.example#', '', 'a\tb', 'a\\b'].map((host) => ({
    name: `the host ${JSON.stringify(host)}`,
    bytes: `${get.replace('HOST', `Host: ${host}`)}\r\n`,
    statuses: [[200, 400]],
  })),

  // Hops.
  {
    name: 'expects a continuation',
    bytes: sent(`${length}\r\nExpect: 100-continue`),
    statuses: [[100], [201]],
  },
  { name: 'expects something else', bytes: sent(`${length}\r\nExpect: 200-ok`), statuses: bad },
  {
    name: 'an upgrade to HTTP/2',
    bytes: `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
    statuses: [[200]],
  },
  {
    name: 'an upgrade to WebSocket',
    bytes: `${get}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    statuses: [[200, 400, 426]],
  },
  {
    name: 'a body that a GET has',
    bytes: `${get}TYPE\r\n${length}\r\n\r\n${body}${get}\r\n`,
    statuses: [[200, 400], [200]],
  },
  {
    name: 'a second request in the body of a GET',
    bytes: `${get}Content-Length: ${get.length}\r\n\r\n`,
    statuses: [[200, 415]],
  },
]

const words = /"detail":"[^"]{8,}/

export async function requestRow(desk: Desk): Promise<Row> {
  const direct = new Tally()
  const tools = new Tally()
  for (const one of odd) {
    direct.count(one.name, ...(await outcome(one, desk)))
  }
  // The same reader is in front of the tools: what it cannot read gets there no more than here.
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  for (const one of odd.filter(({ statuses }) => statuses === bad))
    tools.count(
      one.name,
      ...(await outcome(
        {
          ...one,
          bytes: one.bytes.replaceAll(/\/v1\/customers(\?limit=1)?/g, '/mcp').replaceAll(body, call),
        },
        desk,
      )),
    )
  await eventually('it still answers', async () => (await desk.call('GET', '/v1/customers')).status === 200)
  const noServer = 'It sends requests, and reads none.'
  return {
    corpus: 'Requests of the kinds that the HTTP Garden lists',
    cells: {
      API: direct,
      query: 'The same bytes are a request to the API.',
      import: noServer,
      mirror: noServer,
      webhook: noServer,
      MCP: tools,
      SDK: noServer,
      console: noServer,
    },
  }
}

async function outcome({ bytes, statuses }: Odd, desk: Desk): Promise<[string | null, boolean]> {
  const { host } = new URL(desk.url)
  const raw = bytes
    .replaceAll('HOST', `Host: ${host}`)
    .replaceAll('AUTH', `Authorization: Bearer ${desk.token}`)
    .replaceAll('TYPE', 'Content-Type: application/json')
  const { text, closed } = await desk.exchange(Buffer.from(raw, 'latin1'))
  const answers = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  const said = `${answers.join(', ') || 'no response'}${closed ? ', closed' : ''}: ${short(text.split('\r\n\r\n').at(-1), 200)}`
  const isExpected =
    answers.length === statuses.length && statuses.every((each, n) => each.includes(answers[n] ?? 0))
  if (!isExpected) return [`${said}; expected ${JSON.stringify(statuses)}`, false]
  const last = answers.at(-1) ?? 0
  // What cannot be read leaves nothing that may be read as the next request.
  if (text.includes('"malformed_request"') && !closed) return [`${said}; the connection stays open`, false]
  if (last >= 400 && !words.test(text)) return [`${said}; it is refused without words`, false]
  return [null, last >= 400]
}
