/** The parts of a request's address and headers that routes read, and the bodies of lists. */
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { type Problem, problem } from '../kernel/errors.ts'
import { done } from '../kernel/outcome.ts'
import type { Sent } from '../openapi/api-module.ts'
import type { Page } from './list-parameters.ts'

/** The path as it was sent, without the query, which can have personal data. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split('?', 1)[0] as string
}

/** The query as it was sent. */
export function queryTextOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.slice(pathOf({ url }).length + 1)
}

/** The query, repeats included. */
export function searchParameters(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(queryTextOf(request))
}

export const eventStream = 'text/event-stream'

/** Whether the request is of a list that can be sent as a stream of events. */
export function hasEvents({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.route?.answers['200']?.also?.[eventStream] !== undefined
}

/** Whether the client prefers that to JSON. */
export function wantsEvents(request: FastifyRequest): boolean {
  if (!hasEvents(request)) return false
  return new Negotiator(request).mediaType(['application/json', eventStream]) === eventStream
}

/**
 * A list's envelope around records joined by commas (specification 6.1), with text before and after it. As a string it
 * would be encoded twice.
 */
export function listBody(
  records: string,
  pagination: Readonly<Record<string, unknown>>,
  { before = '', after = '' } = {},
): Buffer {
  const parts = [`${before}{"data":[`, records, `],"pagination":${JSON.stringify(pagination)}}${after}`]
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  let at = 0
  for (const part of parts) at += bytes.write(part, at)
  return bytes
}

/** A page of a list with total and `hasMore`. */
export function pageBody<Row>(
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  { limit, offset }: Page,
  recordOf: (row: Row) => object,
): Buffer {
  const records = rows.map((row) => JSON.stringify(recordOf(row))).join(',')
  return listBody(records, { total, limit, offset, hasMore: offset + rows.length < total })
}

export const sent: Sent = { outcome: 'sent' }

/** For a HEAD whose body is not made: a response without length. Null for any other method. */
export function headersOnly({
  method,
}: FastifyRequest): { readonly outcome: 'done'; readonly value: Readable } | null {
  return method === 'HEAD' ? done(Readable.from([])) : null
}

/** The tag of a version, which is its `updatedAt` (RFC 9110, section 13). */
export function entityTag(updatedAt: string): string {
  return `"${updatedAt}"`
}

/** Whether If-None-Match names this version. A weak tag counts too. */
export function matchesIfNoneMatch(header: string | undefined, updatedAt: string): boolean {
  if (header === undefined) return false
  return listed(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === entityTag(updatedAt))
}

/** Null when If-Match allows the request. */
export function checkIfMatch(header: string | undefined, updatedAt: string): Problem | null {
  if (header === undefined) return null
  if (listed(header).some((tag) => tag === '*' || tag === entityTag(updatedAt))) return null
  return problem(
    'version_mismatch',
    `If-Match does not name the current version, which is ${entityTag(updatedAt)}. Read the object again, then send the change with its current ETag.`,
  )
}

function listed(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
