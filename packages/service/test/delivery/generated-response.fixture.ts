/**
 * Answers of HTTP/1.1 as a server may write them, each with its parts, and what the reader makes of bytes. A character is a
 * byte, so that what fails can be read.
 */
import fc from 'fast-check'
import { type Progress, ResponseReader } from '../../src/delivery/send/response-reader.ts'

/** The parts of an answer, and what of them decides how it is read. */
export interface Parts {
  readonly minor: 0 | 1
  readonly interim: readonly string[]
  readonly status: number
  readonly reason: string
  /** Those that decide nothing, in any order with those that do. */
  readonly fields: readonly string[]
  readonly framing: 'length' | 'chunked' | 'until_close'
  readonly connection: 'close' | 'keep-alive' | null
  readonly keptSeconds: number | null
  readonly body: string
  readonly chunks: readonly Chunk[]
  readonly trailers: readonly string[]
  readonly behind: string
}

interface Chunk {
  readonly length: number
  readonly extension: string
}

/** What comes of bytes, as a connection sees it. */
export interface Outcome {
  readonly progress: Progress
  readonly status: number
  readonly text: string
  /** Whether another request may go over the connection: not when bytes are left over, in whatever piece they come. */
  readonly reusable: boolean
  readonly keepAliveMs: number | null
}

/** What the reader makes of bytes that come in these pieces; it is asked no more once it has said its word. */
export function outcomeOf(pieces: readonly string[]): Outcome {
  const reader = new ResponseReader()
  let [progress, last]: [Progress, number] = ['more', 0]
  for (const [at, piece] of pieces.entries()) {
    if (progress !== 'more') break
    progress = reader.read(Buffer.from(piece, 'latin1'))
    last = at + 1
  }
  const { status, text, persistent, keepAliveMs } = reader
  const reusable = progress === 'complete' && persistent && pieces.slice(last).join('') === ''
  return { progress, status, text, reusable, keepAliveMs }
}

/** The beginning of a body as the log shows it. */
export function shown(body: string): string {
  const kept = Buffer.from(body, 'latin1').subarray(0, 1024)
  return new TextDecoder().decode(kept, { stream: true }).replaceAll('\0', '\ufffd')
}

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength, size: 'max' }).map((all) => Buffer.from(all).toString('latin1'))
const inField = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...'abcxyzABC019 \t,;=:"\\()<>[]{}') },
  { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code)) },
)
const value = fc.string({ unit: inField, maxLength: 20 })
const names = [
  'date',
  'Server',
  'x-content-length',
  'transfer',
  'connection-id',
  'keep',
  'ETag',
  '0',
  "!#$%&'*+.^_`|~",
]
const harmless = fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${name}:${text}`)
const space = fc.constantFrom('', ' ', ' ', '  ')
const ending = fc.constantFrom('', '', ' ')
const token = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,8}$/)
const extension = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        token,
        fc.oneof(
          fc.constant(''),
          token.map((text) => `=${text}`),
          fc.constant('="a;\\" b"'),
        ),
      )
      .map(([name, text]) => `;${name}${text}`),
  },
)
const body = fc.oneof(
  { weight: 6, arbitrary: bytes(60) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: fc.constantFrom('\0', 'x', '\xc3\xab', '\r\n', '0'), maxLength: 1500 }),
  },
  { weight: 1, arbitrary: fc.nat({ max: 20_000 }).map((length) => 'x'.repeat(length)) },
)

const parts: fc.Arbitrary<Parts> = fc.record({
  minor: fc.constantFrom(1, 1, 1, 0),
  interim: fc.array(
    fc
      .tuple(fc.constantFrom(102, 103, 104, 150, 199), fc.array(harmless, { maxLength: 2 }))
      .map(([status, fields]) => [`HTTP/1.1 ${status} Wait`, ...fields, '', ''].join('\r\n')),
    { maxLength: 2 },
  ),
  status: fc.oneof(
    fc.constantFrom(200, 201, 202, 204, 205, 304, 410, 500),
    fc.integer({ min: 200, max: 999 }),
  ),
  reason: fc.oneof(
    fc.constantFrom('', ' ', ' OK'),
    value.map((text) => ` ${text}`),
  ),
  fields: fc.array(harmless, { maxLength: 3 }),
  framing: fc.constantFrom('length', 'length', 'chunked', 'chunked', 'until_close'),
  connection: fc.constantFrom(null, null, 'keep-alive', 'close'),
  keptSeconds: fc.option(fc.nat({ max: 600 }), { freq: 4 }),
  body,
  chunks: fc.array(fc.record({ length: fc.integer({ min: 1, max: 40 }), extension }), { maxLength: 5 }),
  trailers: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(harmless, { maxLength: 2 }) },
  ),
  behind: fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('\r\n', 'x', 'HTTP/1.1 500\r\n\r\n') },
  ),
})

/** What a server writes for these parts, each name and space as some server writes it. */
const written = ({
  minor,
  interim,
  status,
  reason,
  fields,
  framing,
  connection,
  keptSeconds,
  ...rest
}: Parts) =>
  fc
    .tuple(space, ending, fc.boolean())
    .chain(([before, after, loud]) => {
      const field = (name: string, text: string) =>
        `${loud ? name.toUpperCase() : name}:${before}${loud ? text.toUpperCase() : text}${after}`
      const all = [...fields]
      if (connection !== null) all.push(field('connection', connection))
      if (keptSeconds !== null) all.push(field('keep-alive', `timeout=${keptSeconds}, max=100`))
      if (framing === 'length') all.push(field('content-length', `${hasBody(status) ? rest.body.length : 0}`))
      if (framing === 'chunked') all.push(field('transfer-encoding', 'chunked'))
      return fc.shuffledSubarray(all, { minLength: all.length })
    })
    .map((all) => {
      const head = [`HTTP/1.${minor} ${status}${reason}`, ...all, '', ''].join('\r\n')
      return `${interim.join('')}${head}${hasBody(status) ? bodyOf(framing, rest) : ''}${rest.behind}`
    })

function bodyOf(
  framing: Parts['framing'],
  { body, chunks, trailers }: Pick<Parts, 'body' | 'chunks' | 'trailers'>,
) {
  if (framing !== 'chunked') return body
  let [text, at] = ['', 0]
  for (const { length, extension } of [...chunks, { length: body.length, extension: '' }]) {
    const data = body.slice(at, at + length)
    if (data !== '') text += `${data.length.toString(16)}${extension}\r\n${data}\r\n`
    at += length
  }
  return `${text}0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`
}

/** By its status. */
export const hasBody = (status: number) => status !== 204 && status !== 304

export const answers = parts.chain((all) => fc.record({ parts: fc.constant(all), bytes: written(all) }))

/** The bytes in pieces, empty ones among them. */
export const cut = (text: string) =>
  fc.array(fc.nat({ max: text.length }), { maxLength: 8 }).map((places) => {
    const sorted = [0, ...places.sort((a, b) => a - b), text.length]
    return sorted.slice(1).map((end, index) => text.slice(sorted[index], end))
  })
