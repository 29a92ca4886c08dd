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
    short: 'Timed out',
    help: 'Respond with 2xx as soon as the delivery is stored, then do the work.',
  },
  connection_failed: {
    short: 'Could not connect',
    help: 'The receiver refuses connections or is unreachable. Check that it runs and that its firewall allows the service.',
  },
  tls_error: {
    short: 'TLS error',
    help: 'The certificate is not valid for this host: expired, self-signed, or without its chain.',
  },
  redirect: {
    short: 'Redirected',
    help: 'Redirects are not followed. Change the URL of the endpoint to the target.',
  },
  non_2xx: {
    short: 'Failed',
    help: 'Respond with 2xx once the delivery is stored. Any other response is retried. Each attempt shows the response.',
  },
  address_not_public: {
    short: 'Not a public address',
    help: 'The host has a private address. Deliveries go to public addresses only.',
  },
  resolver_failed: {
    short: 'Host not found',
    help: 'The host could not be resolved. Check its DNS records.',
  },
  endpoint_disabled: {
    short: 'Endpoint disabled',
    help: 'The endpoint was disabled. Enable it, then resend missed events.',
  },
  subject_unavailable: {
    short: 'Object unavailable',
    help: 'The object was deleted, or the key that registered the endpoint may not read it.',
  },
  own_change: {
    short: 'Own change',
    help: 'The endpoint skips events that its own key causes.',
  },
  conditions_not_met: {
    short: 'Conditions not met',
    help: 'The event did not meet the conditions of the endpoint. Change them, then resend missed events.',
  },
  paused_too_long: {
    short: 'Paused too long',
    help: 'The endpoint was paused for almost as long as the log is kept. Resume it, then resend missed events.',
  },
  coalesced: {
    short: 'Sent with others',
    help: 'Several updates of the object were sent as one delivery.',
  },
  proxy_failed: {
    short: 'Proxy failed',
    help: 'The proxy of the service refused the connection or could not be reached. Ask the operator of the service.',
  },
  worker_lost: {
    short: 'Interrupted',
    help: 'The sending process ended during the attempt. The receiver may have got the delivery.',
  },
}

/** In a line: `Failed: HTTP 500`. Null where nothing failed. */
export function whatFailed({
  lastError,
  responseStatus,
}: Pick<Delivery, 'lastError' | 'responseStatus'>): string | null {
  if (lastError === null) return null
  const words = byCode[lastError.code]?.short ?? lastError.message
  return responseStatus === null ? words : `${words}: HTTP ${responseStatus}`
}

/** Next to the status of the delivery, which says already that it failed: `HTTP 500`. */
export function causeOf(delivery: Pick<Delivery, 'lastError' | 'responseStatus'>): string | null {
  const { lastError, responseStatus } = delivery
  return lastError?.code === 'non_2xx' && responseStatus !== null
    ? `HTTP ${responseStatus}`
    : whatFailed(delivery)
}

export function failureOf({ error, responseStatus }: Attempt): string | null {
  return whatFailed({ lastError: error, responseStatus })
}

/** What to do about it; null for a code of a later release. */
export function helpFor(code: string): string | null {
  return byCode[code]?.help ?? null
}
