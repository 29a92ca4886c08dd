/**
 * Reads the body of a request, and parses its JSON unless the route or the offload thread does. A body with a name
 * twice in one object is refused (specification 1.2), as parsers differ in which value they take. It has fewer members
 * parsed than written, so both are counted. Counting runs over the bytes before parsing: JSON's own characters have no
 * other meaning in UTF-8. It also looks at numbers.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { MIMEType } from 'node:util'
import { clipped } from '@deskwire/sdk/clipped'
import { type Loss, lossesOf, numberFault, readJson } from '@deskwire/sdk/json'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type FieldError,
  listedErrors,
  type Problem,
  problem,
  quoted,
  validationFailed,
} from '../kernel/errors.ts'
import { isStorable } from '../kernel/fields/fields.ts'
import { pointerWithin } from '../kernel/fields/validate.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'

/** Error codes: the body is too long; the client disconnected before all of it came. */
export const bodyTooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
export const bodyCut = 'BODY_CUT'

/** Bytes of a body with one object that would block others for over 10 ms: the worst that 32 KiB can hold takes 12. */
export const offloadBeyond = 32 * 1024

/** So many bytes of a body that is too long are read and dropped before its connection is closed. */
const discardedUpTo = 64 * 2 ** 20

const firstPiece = 64 * 1024

/**
 * Calls back with the bytes, at most `limit`; `discardBody` drops the rest. Several pieces are copied into one buffer:
 * of the length in the header, or else of `limit` once they exceed `firstPiece`. Pieces are freed as they are read, and
 * so is the buffer of a body that fails.
 */
export function readBody(
  payload: Readable,
  { length, limit }: { readonly length: number | null; readonly limit: number },
  done: (error: Error | null, bytes: Buffer) => void,
): void {
  if (length !== null && length > limit) {
    done(tooLarge(), Buffer.alloc(0))
    return
  }
  let buffer: Buffer | null = null
  let received = 0
  const onData = (chunk: Buffer) => {
    if (received + chunk.length > (length ?? limit)) {
      payload.pause()
      return end(tooLarge())
    }
    if (chunk.length === length) {
      buffer = chunk
      received = length
      return
    }
    buffer ??= Buffer.allocUnsafeSlow(length ?? Math.min(limit, firstPiece))
    if (received + chunk.length > buffer.length) {
      const whole = Buffer.allocUnsafeSlow(limit)
      buffer.copy(whole, 0, 0, received)
      buffer = whole
    }
    received += chunk.copy(buffer, received)
    freeBytes(chunk)
  }
  const onEnd = () => end(null)
  payload.on('data', onData)
  payload.on('end', onEnd)
  const onError = (error: Error) => end(Object.assign(error, { code: bodyCut }))
  payload.on('error', onError)

  function end(error: Error | null): void {
    payload.off('data', onData)
    payload.off('end', onEnd)
    payload.off('error', onError)
    if (error !== null && buffer !== null) freeBytes(buffer)
    done(error, error !== null || buffer === null ? Buffer.alloc(0) : cutTo(received, buffer))
  }
}

/** Its first bytes, without the memory of the rest. */
function cutTo(length: number, buffer: Buffer): Buffer {
  return buffer.length === length ? buffer : Buffer.from((buffer.buffer as ArrayBuffer).transfer(length))
}

/**
 * Frees memory at once: V8 would count it until the next full collection, and collect earlier (decision 78). Leaves an
 * empty array. Bytes that share their memory, as small buffers do, are not freed.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached)
    buffer.transfer(0)
}

/** Reads and drops the rest of a body after its response: closing the connection could lose the response. */
export function discardBody(payload: Readable): void {
  let left = discardedUpTo
  payload.on('data', (chunk: Buffer) => {
    left -= chunk.length
    freeBytes(chunk)
    if (left < 0) payload.destroy()
  })
  payload.on('error', () => {}) // the client has gone
  payload.resume()
}

function tooLarge(): Error {
  return Object.assign(new Error('the body is too large'), { code: bodyTooLarge })
}

declare module 'fastify' {
  interface FastifyRequest {
    rawBody: Buffer | null
  }
  interface FastifyContextConfig {
    /** The route reads `rawBody` itself: nothing is parsed before. */
    readonly readsBody?: { readonly isLight: (bytes: Buffer) => boolean }
  }
}

export function acceptJson(server: FastifyInstance, offloads: boolean): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;|$)/i,
    (request: FastifyRequest, payload: IncomingMessage, done: Parsed) => {
      const { 'content-length': length } = request.headers
      const refused = unreadable(request.headers)
      if (refused !== null) return done(new BodyRefused(refused), undefined)
      const limits = {
        length: length === undefined ? null : Number(length),
        limit: request.routeOptions.bodyLimit,
      }
      readBody(payload, limits, (error, bytes) =>
        error === null ? parse(request, bytes, done) : done(error, undefined),
      )
    },
  )

  function parse(request: FastifyRequest, bytes: Buffer, done: Parsed): void {
    request.rawBody = bytes
    request.offloaded = bytes.length > 0 && offloads && isToBeOffloaded(request, bytes)
    // Some clients send a Content-Type without a body: a route that needs one refuses it.
    if (bytes.length === 0 || request.offloaded || request.routeOptions.config.readsBody) {
      done(null, undefined)
      return
    }
    const parsed = parseJson(bytes)
    // A call without a body of its own keeps nothing of what is sent, so nothing has to be kept exactly.
    const isKept = request.routeOptions.config.route?.body !== undefined
    if (parsed.ok) done(null, parsed.value)
    else if (!isKept && parsed.error.code === 'validation_failed') done(null, undefined)
    else done(new BodyRefused(parsed.error), undefined)
  }
}

/** Routes that read their body decide themselves, as few bytes may ask for much work, or many for little. */
function isToBeOffloaded(request: FastifyRequest, bytes: Buffer): boolean {
  const { readsBody } = request.routeOptions.config
  return readsBody === undefined ? bytes.length > offloadBeyond : !readsBody.isLight(bytes)
}

type Parsed = (error: Error | null, body: unknown) => void

/**
 * Why a body is not read, whose type is JSON: it says that its bytes are compressed, or not UTF-8. Null: they are
 * neither.
 */
function unreadable(headers: IncomingHttpHeaders): Problem | null {
  const { 'content-encoding': coding, 'content-type': type = '' } = headers
  if (coding !== undefined && !/^identity$/i.test(coding.trim()))
    return problem(
      'unsupported_media_type',
      `Send the body without Content-Encoding, uncompressed; got ${quoted(coding)}.`,
    )
  if (!type.includes(';')) return null
  const charset = charsetOf(type)
  return charset === null || /^utf-?8$/i.test(charset)
    ? null
    : problem(
        'unsupported_media_type',
        `Send the body in UTF-8, with Content-Type: application/json; got the charset ${quoted(charset)}.`,
      )
}

function charsetOf(type: string): string | null {
  try {
    return new MIMEType(type).params.get('charset')
  } catch {
    return null
  }
}

/** Fastify takes no value from a parser that refuses. */
export class BodyRefused extends Error {
  readonly problem: Problem

  constructor(refusal: Problem) {
    super(refusal.detail)
    this.problem = refusal
  }
}

export const deepestNesting = 64

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const curly = 0x20
const opening = 0x7b
const closing = 0x7d

/** Bytes of a string that are read one by one before its end is searched for: most strings are shorter. */
const shortString = 64

/** The end of the string from `from`, after its quote. Searching for the quote reads long strings ten times as fast. */
export function endOfString(json: Buffer, from: number): number {
  let near = from + shortString
  for (let n = from; n < json.length; n++) {
    const byte = json[n]
    if (byte === quote) return n + 1
    if (byte === backslash) n++
    else if (n >= near) {
      const found = json.indexOf(quote, n)
      if (found === -1) return json.length
      let escapes = 0
      while (found - 1 - escapes > n && json[found - 1 - escapes] === backslash) escapes++
      if (escapes % 2 === 0) return found + 1
      n = found
      near = n + shortString
    }
  }
  return json.length
}

interface Counted {
  /** More than `deepestNesting`: the rest is not counted. */
  readonly tooDeep: boolean
  /** A name that is written twice counts twice. */
  readonly members: number
  /** Whether a double does not hold one of the numbers. */
  readonly rounds: boolean
  /** With members, elements of lists, and what is nested. */
  readonly values: number
}

export function countJson(json: Buffer): Counted {
  let depth = 0
  let members = 0
  let rounds = false
  let values = 0
  for (let n = 0; n < json.length; n++) {
    const byte = json[n] as number
    if (byte === quote) n = endOfString(json, n + 1) - 1
    else if (byte === colon) members++
    else if (byte === comma) values++
    else if ((byte | curly) === opening) {
      values++
      if (++depth > deepestNesting) return { tooDeep: true, members, values, rounds }
    } else if ((byte | curly) === closing) depth--
    else if (byte >= zero && byte <= nine) {
      const from = n
      while (partsOfNumber.has(json[n + 1] ?? 0)) n++
      rounds ||= isLong(json, from, n + 1) && numberFault(json.toString('latin1', from, n + 1)) !== null
    }
  }
  return { tooDeep: false, members, values, rounds }
}

const zero = 0x30
const nine = 0x39
const partsOfNumber: ReadonlySet<number> = new Set(Buffer.from('0123456789.eE+-'))

/** Any 15 digits are held, but not with any exponent. */
function isLong(json: Buffer, from: number, end: number): boolean {
  if (end - from > 15) return true
  for (let n = from; n < end; n++) if (((json[n] as number) | curly) === exponent) return true
  return false
}

const exponent = 0x65

/** A byte order mark is allowed at the beginning of a body only. */
const decoder = new TextDecoder('utf-8', { fatal: true })
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Refused: no JSON, and what cannot be kept exactly. `part`: the bytes are not the beginning of a body. */
export function parseJson(bytes: Buffer, part = false): Result<unknown, Problem> {
  const counted = countJson(bytes)
  if (counted.tooDeep) return fail(tooDeep)
  let text: string
  let value: unknown
  try {
    text = (part ? strictDecoder : decoder).decode(bytes)
    value = readJson(text)
  } catch (error) {
    return malformed(`The body is not valid JSON in UTF-8: ${(error as Error).message}.`)
  }
  const isRepeated = membersOf(value) !== counted.members
  const losses = isRepeated || counted.rounds ? lossesOf(text) : []
  if (isRepeated) return malformed(repeated(losses))
  const errors = losses.map(({ path, fault }): FieldError => {
    return { pointer: path.reduce(pointerWithin, ''), code: 'invalid_value', detail: fault ?? '' }
  })
  // In valid UTF-8, only an escape can write text that cannot be stored.
  if (bytes.includes('\\u')) findUnstorable(value, '', errors)
  return errors.length > 0 ? fail(validationFailed(errors)) : ok(value)
}

export const tooDeep: Problem = problem(
  'malformed_json',
  `The body nests objects and arrays more than ${deepestNesting} levels deep. Send it flatter.`,
)

function malformed(detail: string): Result<never, Problem> {
  return fail(problem('malformed_json', detail))
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let members = 0
    for (const one of value) if (typeof one === 'object') members += membersOf(one)
    return members
  }
  const names = Object.keys(value)
  let members = names.length
  for (const name of names) {
    const one = (value as Record<string, unknown>)[name]
    if (typeof one === 'object') members += membersOf(one)
  }
  return members
}

const shownName = 100

/** Names the first name that is twice in its object, of a body that has one. */
function repeated(losses: readonly Loss[]): string {
  const name = losses.find(({ fault }) => fault === null)?.path.at(-1)
  if (name === undefined) throw new Error('a body has fewer members than it writes, and none of them twice')
  return `The body has the name ${JSON.stringify(clipped(name, shownName))} twice in one object. Send each name once.`
}

function findUnstorable(value: unknown, pointer: string, errors: FieldError[]): void {
  if (errors.length >= listedErrors) return
  if (typeof value === 'string') {
    if (!isStorable(value)) errors.push({ pointer, code: 'invalid_format', detail: unstorable })
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      const at = pointerWithin(pointer, name)
      if (!isStorable(name)) errors.push({ pointer: at, code: 'invalid_format', detail: unstorableName })
      findUnstorable(one, at, errors)
    }
  }
}

const unstorable = 'must be text without U+0000 and without a lone half of a surrogate pair'
const unstorableName = 'must have a name without U+0000 and without a lone half of a surrogate pair'
