/** Why deliveries fail, in words for the person who fixes the receiver. */
import type { Attempt, Delivery } from '../../api/client.ts'

interface Words {
  /** What happened. */
  readonly short: string
  /** What to check. */
  readonly help: string
}

const byCode: Readonly<Record<string, Words>> = {
  timeout: {
    short: 'No answer in time',
    help: 'Answer with 2xx as soon as the delivery is stored, and do the work afterwards.',
  },
  connection_failed: {
    short: 'Could not connect',
    help: 'The address refuses connections or cannot be reached: is the receiver running, and does its firewall let this in?',
  },
  tls_error: {
    short: 'TLS failed',
    help: 'The certificate of the address is not valid for its name: expired, self-signed, or without its chain.',
  },
  redirect: {
    short: 'Answered with a redirect',
    help: 'Redirects are not followed. Change the address of the endpoint to where it leads.',
  },
  non_2xx: {
    short: 'Refused',
    help: 'Answer with 2xx once the delivery is stored; any other response is tried again. Each attempt shows the response.',
  },
  address_not_public: {
    short: 'Not a public address',
    help: 'The name leads to an address within a network, where deliveries may not go.',
  },
  resolver_failed: {
    short: 'Name not found',
    help: 'The name of the address could not be resolved: look at its DNS.',
  },
  endpoint_disabled: {
    short: 'Endpoint disabled',
    help: 'It was not sent, as its endpoint is disabled. Enable that, and recover what it has missed.',
  },
  subject_unavailable: {
    short: 'Nothing to send',
    help: 'The object of the event was removed, or the key that registered the endpoint may not read it.',
  },
  own_change: {
    short: 'Own change',
    help: 'It was not sent, as the key of its endpoint caused it, and the endpoint skips those.',
  },
  conditions_not_met: {
    short: 'Conditions not met',
    help: 'It was not sent, as the conditions of its endpoint did not hold. Change those, and recover.',
  },
  worker_lost: {
    short: 'Interrupted',
    help: 'The process that sent it ended in between. It is not known whether the receiver got it.',
  },
}

/** In a line: `Failed: HTTP 500`. Null where nothing failed. */
export function whatFailed({
  lastError,
  responseStatus,
}: Pick<Delivery, 'lastError' | 'responseStatus'>): string | null {
  if (lastError === null) return null
  const words = byCode[lastError.code]?.short ?? lastError.message
  return responseStatus === null ? words : `${words} with ${responseStatus}`
}

export function failureOf({ error, responseStatus }: Attempt): string | null {
  return whatFailed({ lastError: error, responseStatus })
}

/** What to do about it; null for a code of a later release. */
export function helpFor(code: string): string | null {
  return byCode[code]?.help ?? null
}
