/** What a request asks for, and what is not the JSON of one value: lists, and replies that a route sends itself. */
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { done } from '../kernel/outcome.ts'
import type { Page } from './list-parameters.ts'

/** The path as it was sent, without the query: that can hold addresses and names. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split('?', 1)[0] as string
}

/** The query as it was sent, repeats included. */
export function searchParameters(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'))
}

/**
 * Records, joined by commas, in the envelope of a list (specification 6.1), as one piece of UTF-8. As a string it
 * would be put together twice: to be measured, and again behind the head of the answer (measured: a tenth of the processor
 * time of a page of 45 KB).
 */
export function listBody(records: string, pagination: Readonly<Record<string, unknown>>): Buffer {
  const parts = ['{"data":[', records, `],"pagination":${JSON.stringify(pagination)}}`]
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  let at = 0
  for (const part of parts) at += bytes.write(part, at)
  return bytes
}

/** A page of rows that were counted: `recordOf` says how each is shown. */
export function pageBody<Row>(
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  { limit, offset }: Page,
  recordOf: (row: Row) => object,
): Buffer {
  const records = rows.map((row) => JSON.stringify(recordOf(row))).join(',')
  return listBody(records, { total, limit, offset, hasMore: offset + rows.length < total })
}

/** A route has sent its answer by itself, or is sending it. (A reply is no value: it is awaited as what it has sent.) */
export interface Sent {
  readonly outcome: 'sent'
}

export const sent: Sent = { outcome: 'sent' }

/** The answer to a HEAD whose body is never made: its length is not said, as nobody knows it. Null for any other request. */
export function headersOnly({
  method,
}: FastifyRequest): { readonly outcome: 'done'; readonly value: Readable } | null {
  return method === 'HEAD' ? done(Readable.from([])) : null
}
