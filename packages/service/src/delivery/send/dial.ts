/** The only place that opens a connection to a receiver, and only to checked addresses. */

import { X509Certificate } from 'node:crypto'
import * as net from 'node:net'
import * as tls from 'node:tls'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { LruMap } from '../../kernel/lru-map.ts'
import { stopwatch } from '../../kernel/timestamps.ts'
import type { EgressProxy } from '../model.ts'
import type { Deadline } from './deadlines.ts'
import { dialFailure, type Failure, failure, peerName } from './failure.ts'
import { openTunnel } from './tunnel.ts'

interface Dialing {
  readonly hostname: string
  readonly port: number
  readonly addresses: readonly string[]
  readonly secureContext: tls.SecureContext
  /** Milliseconds after which the next address is tried; the last has until the deadline. */
  readonly addressTimeoutMs: number
  /** The connection may well be refused: TLS is prepared only once it is accepted. */
  readonly doubtful: boolean
  readonly session: Buffer | null
  /** Null: straight. */
  readonly proxy: EgressProxy | null
  /** Called with a session once the certificate was verified; `resumed`: it follows from a resumed one. */
  onSession(session: Buffer, resumed: boolean): void
}

/**
 * Receives the bytes of every connection, as they are read at once. A buffer and a stream for each chunk cost 2% of a
 * delivery.
 */
const received = Buffer.allocUnsafeSlow(64 * 1024)

/** A connection, and the address of the receiver that it leads to, through a proxy or not. */
export interface Dialled {
  readonly socket: tls.TLSSocket
  readonly address: string
  readonly port: number
}

/**
 * A connection that is ready for requests, or why there is none by the deadline. `onBytes` must read what it gets
 * before it returns.
 */
export async function dial(
  dialing: Dialing,
  deadline: Deadline,
  onBytes: (bytes: Buffer) => void,
): Promise<Dialled | Failure> {
  const { hostname, port, addresses, secureContext, addressTimeoutMs, doubtful, session, onSession } = dialing
  const tunnel = dialing.proxy === null ? null : await openTunnel(dialing.proxy, dialing, deadline)
  if (tunnel !== null && 'kind' in tunnel) return tunnel
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const [first = '', ...others] = addresses
  const connecting: net.TcpNetConnectOpts = {
    // The name comes with its addresses, so that nothing looks it up again.
    host: others.length === 0 ? first : name,
    ...(others.length === 0 ? {} : { lookup: lookupOf(addresses), autoSelectFamily: true }),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  }
  const securing: tls.ConnectionOptions = {
    servername: net.isIP(name) === 0 ? name : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(session === null ? {} : { session }),
  }
  const peer = peerName(tunnel?.address ?? (others.length === 0 ? first : name), port)

  return new Promise((resolve) => {
    let tlsBegun = tunnel !== null
    let socket: net.Socket
    const onPass = () => {
      const step = tlsBegun ? 'finish the TLS handshake' : 'accept the connection'
      socket.destroy()
      resolve({ ...failure('timeout', `${peer} did not ${step} in time`), handshake: tlsBegun })
    }
    deadline.onPass = onPass
    const onError = (error: NodeJS.ErrnoException) => {
      deadline.onPass = null
      resolve({ ...dialFailure(error, peer, tlsBegun), handshake: tlsBegun })
    }
    // TLS 1.2 gives a session during the handshake, before anything is verified; TLS 1.3 after it.
    let early: Buffer | null = null
    const onTicket = (secured: tls.TLSSocket, ticket: Buffer) => {
      if (secured.authorized) onSession(ticket, secured.isSessionReused())
      else early = ticket
    }
    const onSecure = (secured: tls.TLSSocket) => {
      deadline.onPass = null
      if (early !== null) onSession(early, secured.isSessionReused())
      const { remoteAddress = '' } = secured
      resolve({ socket: secured, address: tunnel?.address ?? remoteAddress, port })
    }
    const secure = (options: tls.ConnectionOptions & { onread?: net.OnReadOpts }) => {
      const secured = tls.connect(options, () => onSecure(secured))
      secured.on('session', (ticket) => onTicket(secured, ticket))
      return secured
    }
    // Without a server name the certificate is checked against the host.
    const secureOver = (below: net.Socket) => {
      const secured = secure({ ...securing, host: name, socket: below })
      secured.on('data', onBytes)
      return secured
    }
    if (tunnel !== null) socket = secureOver(tunnel.socket)
    else if (doubtful) socket = net.connect(connecting)
    else socket = secure({ ...securing, ...connecting, onread: readBy(onBytes) })
    // Stays as long as the socket: an error without a listener would end the process.
    socket.on('error', onError)
    socket.once('connect', () => {
      tlsBegun = true
      if (!doubtful || tunnel !== null) return
      socket = secureOver(socket)
      socket.on('error', onError)
    })
    if (deadline.passed) deadline.onPass()
  })
}

function readBy(onBytes: (bytes: Buffer) => void): net.OnReadOpts {
  return {
    buffer: received,
    callback(length) {
      onBytes(received.subarray(0, length))
      return true
    },
  }
}

function lookupOf(addresses: readonly string[]): net.LookupFunction {
  const found = addresses.map((address) => ({ address, family: net.isIP(address) }))
  return (_name, options, callback) => {
    // Never before `connect` has returned: it expects a later answer.
    process.nextTick(() => {
      if (options.all) callback(null, found)
      else callback(null, found[0]?.address as string, found[0]?.family as number)
    })
  }
}

/**
 * The default authorities and those of `pem`. Throws when `pem` holds no certificate or a broken one, which OpenSSL
 * would ignore.
 */
export function trustAuthorities(pem: string | null): SecureContext {
  if (pem === null) return createSecureContext()
  const own = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (own.length === 0) throw new Error('There is no certificate in PEM form')
  return createSecureContext({
    ca: [...getCACertificates('default'), ...own.map((text) => new X509Certificate(text).toString())],
  })
}

interface TlsSession {
  readonly bytes: Buffer
  /** By a stopwatch, so that setting the clock extends none. */
  readonly verifiedAt: number
}

/**
 * TLS sessions to resume: a full handshake costs the worker 1.5 ms, a resumed one 1.0 ms (EC certificate).
 *
 * A session serves the organization and origin that it was made for, and only for `lasts` since that receiver's
 * certificate was verified, as a resumed handshake checks no certificate: sessions that follow from a resumed one are
 * as old as the first. Another server at the address cannot resume, and TLS then makes a full handshake.
 */
export class TlsSessions {
  readonly #lasts: number
  readonly #elapsed: () => number
  /** By organization and origin. */
  readonly #sessions: LruMap<string, TlsSession>

  /** `most` sessions, each for `lasts` milliseconds since its certificate was verified. */
  constructor({ most, lasts }: { most: number; lasts: number }, elapsed = stopwatch()) {
    this.#sessions = new LruMap(most)
    this.#lasts = lasts
    this.#elapsed = elapsed
  }

  of(pool: string): TlsSession | null {
    const session = this.#sessions.get(pool)
    if (session === undefined) return null
    if (this.#elapsed() - session.verifiedAt < this.#lasts) return session
    this.#sessions.delete(pool)
    return null
  }

  /** Keeps a session for the next connection; `resumed` is the one that this connection resumed. */
  keep(pool: string, bytes: Buffer, resumed: TlsSession | null): void {
    this.#sessions.set(pool, { bytes, verifiedAt: resumed?.verifiedAt ?? this.#elapsed() })
  }

  forget(pool: string): void {
    this.#sessions.delete(pool)
  }
}
