/** How pages and documents are sent: in the coding that the client likes best, and not again while they are the same. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Compressed, chooseCoding, compressOnce } from '../http/compression.ts'
import { entityTag, holdsVersion } from '../http/entity-tag.ts'
import { type Sent, sent } from '../http/replies.ts'

/** Content that stays the same while the process runs. */
export interface Versioned {
  readonly mediaType: string
  /** A hash of the content. */
  readonly version: string
  readonly forms: Compressed
}

export async function versioned(content: string, mediaType: string): Promise<Versioned> {
  const bytes = Buffer.from(content)
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { mediaType: `${mediaType}; charset=utf-8`, version, forms: await compressOnce(bytes) }
}

/** What the first call makes, for all calls; what failed is tried again by the next. */
export function first<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}

/**
 * May be kept, but is asked for again each time: the next release has other content at the same addresses. A tag names the
 * bytes that are sent, so each coding has its own.
 */
export function sendVersioned(request: FastifyRequest, reply: FastifyReply, content: Versioned): Sent {
  const { forms, mediaType, version } = content
  const form = chooseCoding(request, reply)
  const tag = form === 'identity' ? version : `${version}-${form}`
  reply.header('cache-control', 'no-cache').header('etag', entityTag(tag))
  reply.header('x-content-type-options', 'nosniff')
  if (holdsVersion(request.headers['if-none-match'], tag))
    reply.code(304).removeHeader('content-encoding').send()
  else reply.header('content-type', mediaType).send(forms[form])
  return sent
}

/** Styles, scripts and images come from the service, and a page calls no other. Nothing may frame it. */
export function confine(reply: FastifyReply): void {
  reply
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
}

/** What has an address that changes with its content: it can be kept for good. */
export function sendUnchanging(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, forms }: { readonly mediaType: string; readonly forms: Compressed },
): Sent {
  const form = chooseCoding(request, reply)
  reply
    .header('content-type', mediaType)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('x-content-type-options', 'nosniff')
    .send(forms[form])
  return sent
}
