/** Reads the JSON body of a request, unless its route or the offload thread does. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseJson } from './json-body.ts'
import { isToBeOffloaded } from './offload.ts'
import { readBody } from './read-body.ts'

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
