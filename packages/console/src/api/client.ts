/**
 * The SDK's client with the session's key. `await answerOf(api().webhooks.get(id))` throws ApiProblem or Unreachable.
 */
import { type Client, createClient, DeskwireError } from '@deskwire/sdk'
import { endSession, sessionLink, sessionToken } from '../session/store.ts'
import { sayConnected, sayLost } from './connection.ts'
import { ApiProblem, Unreachable } from './problem.ts'

export type { ApiKey, Attempt, Delivery, Organization, Recovery, Webhook } from '@deskwire/sdk'

let known = { token: '', client: clientOf('none') }

/** The client of the current session. */
export function api(): Client {
  const token = sessionToken() ?? 'none'
  if (known.token !== token) known = { token, client: clientOf(token) }
  return known.client
}

/** Throws TypeError for a key that no header can hold. It retries nothing: queries do. */
export function clientOf(apiKey: string): Client {
  return createClient({ baseUrl: window.location.origin, apiKey, retries: 0 })
}

/**
 * The result of a call. Throws ApiProblem when it is refused, Unreachable without a response. A 401 ends the session.
 */
export async function answerOf<T>(call: Promise<T>): Promise<T> {
  try {
    const answer = await call
    sayConnected()
    return answer
  } catch (error) {
    // An aborted call throws its own reason.
    if (!(error instanceof DeskwireError)) throw error
    if (error.status === 0 || error.status >= 502) sayLost()
    else sayConnected()
    if (error.status === 0) throw new Unreachable(error)
    if (error.status === 401) endSession(`Your session has ended. ${whyEnded(error)}`)
    throw new ApiProblem(error)
  }
}

/** The key worked before, so it is not mistyped, as the service supposes of one that it does not know. */
function whyEnded({ code, detail }: DeskwireError): string {
  if (sessionLink() !== null) return 'It was ended, or has expired. Ask for a new link.'
  return code === 'unauthorized' ? 'The API key was revoked, or this token of it was replaced.' : detail
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
