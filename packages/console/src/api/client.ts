/**
 * The client of the API, typed by openapi.json, with the session's key. `await answerOf(api.GET('/v1/webhooks'))`
 * returns the response, or throws ApiProblem or Unreachable. A 401 ends the session.
 */
import { readJson } from '@deskwire/sdk/json'
import createClient from 'openapi-fetch'
import type { components, paths } from '../generated/api.ts'
import { endSession, sessionToken } from '../session/store.ts'
import { ApiProblem, Unreachable } from './problem.ts'

type Schemas = components['schemas']
export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['Delivery']
export type Attempt = Schemas['Attempt']
export type Recovery = Schemas['Recovery']
export type ApiKey = Schemas['ApiKey']
export type Organization = Schemas['Organization']
export type { components, paths }

export const api = createClient<paths>({ baseUrl: window.location.origin })

api.use({
  onRequest({ request }) {
    const token = sessionToken()
    if (token !== null && !request.headers.has('authorization'))
      request.headers.set('authorization', `Bearer ${token}`)
    return request
  },
  // The library reads a response without length by the browser's JSON.parse, and others by `json`.
  async onResponse({ response }) {
    if (!response.ok || response.status === 204) return undefined
    const text = await response.text()
    const headers = new Headers(response.headers)
    headers.set('content-length', String(text.length))
    const read = new Response(text, { status: response.status, headers })
    return Object.assign(read, { json: async () => readJson(text) })
  },
})

interface Answer {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}

/** The response of a call. Throws ApiProblem or Unreachable. */
export async function answerOf<T extends Answer>(call: Promise<T>): Promise<NonNullable<T['data']>> {
  let answer: T
  try {
    answer = await call
  } catch (error) {
    // The caller has aborted.
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Unreachable(error)
  }
  const { data, error, response } = answer
  if (response.ok) return data as NonNullable<T['data']>
  const body = typeof error === 'object' && error !== null ? error : {}
  const problem = new ApiProblem(response.status, body, response.headers)
  if (problem.status === 401) endSession(problem.message)
  throw problem
}

/** An Idempotency-Key: the same for each try of one creation. */
export function newIntent(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A call that can be shown, and repeated from a shell. */
export interface ShownCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From /v1 on, filled in. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** The call for a POSIX shell that has the key in DESKWIRE_API_KEY: the key itself is never shown. */
export function curlOf({ method, path, query = {}, body }: ShownCall): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  const url = `${window.location.origin}${path}${search === '' ? '' : `?${search}`}`
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    '  -H "Authorization: Bearer $DESKWIRE_API_KEY"',
    ...(body === undefined
      ? []
      : ["  -H 'Content-Type: application/json'", `  --data ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
