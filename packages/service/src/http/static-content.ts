/** Content that many clients request: compressed once, and not sent again while it is unchanged. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sent } from '../openapi/api-module.ts'
import { type Compressed, chooseCoding, compressOnce } from './compression.ts'
import { entityTag, matchesIfNoneMatch, sent } from './replies.ts'

export interface Versioned {
  readonly mediaType: string
  readonly version: string
  readonly forms: Compressed
}

export async function versioned(content: Buffer, mediaType: string): Promise<Versioned> {
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { mediaType, version, forms: await compressOnce(content) }
}

/** The value of the first call, for all calls; a failure is tried again by the next. */
export function first<T>(make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null
  return () => {
    value ??= make().catch((error: unknown) => {
      value = null
      throw error
    })
    return value
  }
}

/** Revalidated each time: the next release has other content at the same address. Each coding has its own tag. */
export function sendVersioned(request: FastifyRequest, reply: FastifyReply, content: Versioned): Sent {
  const { forms, mediaType, version } = content
  const form = chooseCoding(request, reply)
  const tag = form === 'identity' ? version : `${version}-${form}`
  reply.header('cache-control', 'no-cache').header('etag', entityTag(tag))
  reply.header('x-content-type-options', 'nosniff')
  if (matchesIfNoneMatch(request.headers['if-none-match'], tag))
    reply.code(304).removeHeader('content-encoding').send()
  else reply.header('content-type', mediaType).send(forms[form])
  return sent
}

/** Content whose address changes with it: caches need not revalidate it. */
export function sendUnchanging(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, forms }: Versioned,
): Sent {
  const form = chooseCoding(request, reply)
  reply
    .header('content-type', mediaType)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('x-content-type-options', 'nosniff')
    .send(forms[form])
  return sent
}
