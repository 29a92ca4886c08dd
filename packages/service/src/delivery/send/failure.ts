/** Failures between the service and a receiver, as sentences of the delivery log. */
import { clipped } from '@deskwire/sdk/clipped'
import { deliveryTuning } from '../tuning.ts'
import type { SendOutcome } from '../verdict.ts'

const { messageLength } = deliveryTuning.sender

export type Failure = Omit<Extract<SendOutcome, { kind: 'failed' }>, 'durationMs'>

export function failure(code: Failure['code'], message: string): Failure {
  return { kind: 'failed', code, message: clipped(message, messageLength, '') }
}

/** `192.0.2.7:443`, or the host and port before an address is chosen. */
export type Peer = string

export function peerName(address: string, port: number): Peer {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

/** An error before the connection is ready; `tlsBegun` once TCP is connected. */
export function dialFailure(error: Error, peer: Peer, tlsBegun: boolean): Failure {
  const cause: NodeJS.ErrnoException =
    error instanceof AggregateError ? ((error.errors as Error[]).at(-1) ?? error) : error
  const { address, port } = cause as { address?: string; port?: number }
  const at = address !== undefined && port !== undefined ? peerName(address, port) : peer
  if (tlsBegun && !isNetworkError(cause)) return tlsFailure(cause, at)
  return networkFailure(cause, at)
}

export function exchangeFailure(error: NodeJS.ErrnoException, peer: Peer): Failure {
  // With TLS 1.3 a receiver that wants a client certificate says so only after the handshake.
  if (isTlsError(error)) return tlsFailure(error, peer)
  // The system gave up a connection that had been accepted.
  if (error.code === 'ETIMEDOUT') return failure('timeout', `${peer} stopped responding`)
  return networkFailure(error, peer)
}

const networkErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  EPIPE: 'closed the connection before it answered',
  ECONNABORTED: 'aborted the connection',
  EHOSTUNREACH: 'cannot be reached: no route to the host',
  ENETUNREACH: 'cannot be reached: no route to its network',
  EHOSTDOWN: 'cannot be reached: the host is down',
  EADDRNOTAVAIL: 'cannot be reached from here: no local address or port for it',
  EACCES: 'cannot be reached: this machine does not allow it',
  EPERM: 'cannot be reached: this machine does not allow it',
  EMFILE: 'was not tried: this process has too many files open',
  ENFILE: 'was not tried: this machine has too many files open',
}

function isNetworkError(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ETIMEDOUT' || (error.code ?? '') in networkErrors
}

function networkFailure(error: NodeJS.ErrnoException, peer: Peer): Failure {
  if (error.code === 'ETIMEDOUT') return failure('timeout', `${peer} did not accept the connection in time`)
  const what = networkErrors[error.code ?? ''] ?? `failed: ${error.message}`
  return failure('connection_failed', `${peer} ${what}`)
}

const untrusted =
  'its certificate comes from an authority that is not trusted, or an intermediate one is missing'

const certificateErrors: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  INVALID_PURPOSE: 'its certificate is not one for servers',
  CERT_REVOKED: 'its certificate was revoked',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
}

function isTlsError(error: NodeJS.ErrnoException): boolean {
  return /^(ERR_SSL_|ERR_TLS_|CERT_)|^EPROTO$/.test(error.code ?? '')
}

function tlsFailure(error: NodeJS.ErrnoException & { reason?: string }, peer: Peer): Failure {
  const known = certificateErrors[error.code ?? '']
  if (known !== undefined) return failure('tls_error', `No TLS with ${peer}: ${known}`)
  return failure('tls_error', `No TLS with ${peer}: ${error.reason ?? error.message}`)
}
