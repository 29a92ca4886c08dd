/** Reads the body of a request, and parses its JSON unless the route or the offload thread does. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { freeBytes } from '../kernel/free-bytes.ts'
import { parseJson } from './json-body.ts'
import { isToBeOffloaded } from './offload.ts'

/** Error codes: the body is too long; the client disconnected before all of it came. */
export const bodyTooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
export const bodyCut = 'BODY_CUT'

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
    if (parsed.ok) done(null, parsed.value)
    else done(Object.assign(new Error(parsed.error), { code: malformedJson }), undefined)
  }
}

type Parsed = (error: Error | null, body: unknown) => void

export const malformedJson = 'MALFORMED_JSON'
