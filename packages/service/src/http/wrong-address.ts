/** Suggests what an unknown path may have been meant to be. */
import type { FastifyRequest } from 'fastify'
import { pathOf } from './replies.ts'

/** A sentence for the end of an error. `exists` says whether a path is known. */
export function adviceOn(path: string, exists: (path: string) => boolean): string {
  const found = path.includes('//')
    ? undefined
    : [...alternatives(path)].find((one) => one !== path && exists(one))
  if (found !== undefined) return `Did you mean ${found}?`
  if (path.includes('//')) return 'A part between two slashes is empty: fill it in, or leave one slash out.'
  return 'See /openapi.json for what there is.'
}

/** The usual mistakes: a slash at the end or escaped, no version or another one, something before it, capitals. */
function* alternatives(path: string): Generator<string> {
  const trimmed = path.replace(/\/$/, '').replaceAll(/%2f/gi, '/')
  for (const one of new Set([trimmed, trimmed.toLowerCase()])) {
    yield one
    yield `/v1${one}`
    yield one.replace(/^.*(?=\/v1\/)/, '')
    yield one.replace(/^\/[^/]+(?=\/)/, '/v1')
    yield one.replace(/^\/v1(?=\/)/, '')
  }
}

/** With a slash at its end, a list's path is that of an object without an id. Empty where there is no such list. */
export function withoutSlash(request: FastifyRequest): string {
  const path = pathOf(request)
  const list = path.endsWith('/') ? path.slice(0, -1) : ''
  const allow = request.server.allowedAt(list)
  return allow === null ? '' : ` Without the slash at the end, ${list} allows ${allow}.`
}
