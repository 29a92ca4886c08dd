/**
 * The sender: from a URL and bytes to the outcome of an attempt (specification 9.2, specification 10.3). The resolver
 * says for every attempt which addresses may be connected to; `dial` connects to these only; a Connection carries one
 * request at a time; idle ones are reused; one Deadline covers it all, from the look-up to the headers of the response.
 *
 * No attempt outlives its deadline, follows a redirect or a proxy of the environment, reaches an address that was not
 * checked for it, uses a connection or session of another organization, or waits for another endpoint.
 */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../kernel/timestamps.ts'
import type { EgressProxy } from '../model.ts'
import { deliveryTuning } from '../tuning.ts'
import type { SendOutcome } from '../verdict.ts'
import { Connection, IdleConnections } from './connection.ts'
import { createDeadlines, type Deadline } from './deadlines.ts'
import { dial, TlsSessions, trustAuthorities } from './dial.ts'
import { type ReceivedResponse, type RequestPieces, requestPieces, type Stale } from './exchange.ts'
import { type Failure, failure } from './failure.ts'
import type { Resolution, Resolver } from './resolver.ts'

export interface SendRequest {
  readonly organizationId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
  /** Uses a new connection. An endpoint that hangs costs the connection, which others of its host would then lack. */
  readonly ownConnection?: boolean
}

export interface Sender {
  /**
   * One attempt: a POST. Rejects only for what cannot be sent, such as a header with a line break, and beyond
   * `maxSockets`.
   */
  send(request: SendRequest): Promise<SendOutcome>
  /** Ends attempts under way as `timeout` and closes every connection. */
  close(): void
}

export interface SenderOptions {
  readonly resolver: Resolver
  readonly clock: Clock
  readonly answerTimeoutMs: number
  /** Authorities (PEM) trusted besides the default ones (DESKWIRE_TARGET_CA). */
  readonly targetCa?: string | null
  /** The only way out, if there is one (DESKWIRE_EGRESS_PROXY). */
  readonly egressProxy?: EgressProxy | null
  /** Connections in all; default: a worker's attempts. */
  readonly maxSockets?: number
  readonly maxIdlePerOrigin?: number
}

export function createSender(options: SenderOptions): Sender {
  return new TargetSender(options)
}

class TargetSender implements Sender {
  readonly #resolver: Resolver
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #maxSockets: number
  readonly #secureContext: SecureContext
  readonly #proxy: EgressProxy | null
  readonly #deadlines: ReturnType<typeof createDeadlines>
  readonly #idle: IdleConnections
  readonly #sessions = new TlsSessions(deliveryTuning.sender.sessions)
  readonly #open = new Set<Connection>()
  #dialing = 0
  #underWay = 0

  constructor({
    resolver,
    clock,
    answerTimeoutMs,
    targetCa = null,
    egressProxy = null,
    maxSockets = deliveryTuning.concurrency.total,
    maxIdlePerOrigin = deliveryTuning.sender.idlePerOrigin,
  }: SenderOptions) {
    this.#idle = new IdleConnections(maxIdlePerOrigin)
    this.#resolver = resolver
    this.#clock = clock
    this.#timeoutMs = answerTimeoutMs
    this.#maxSockets = maxSockets
    this.#secureContext = trustAuthorities(targetCa)
    this.#proxy = egressProxy
    this.#deadlines = createDeadlines(answerTimeoutMs)
  }

  async send(request: SendRequest): Promise<SendOutcome> {
    if (this.#underWay >= this.#maxSockets) throw new RangeError('more attempts at once than connections')
    const startedAt = this.#clock.now()
    const deadline = this.#deadlines.begin()
    this.#underWay++
    try {
      // No limit by URL or host: endpoints may share these, and each has its own limit.
      const ended = await this.#attempt(request, deadline)
      if (ended.kind === 'failed') return { ...ended, durationMs: this.#since(startedAt, this.#clock.now()) }
      const { kind, status, responseBody, retryAfter, answeredAt } = ended
      const durationMs = this.#since(startedAt, answeredAt)
      return { kind, status, responseBody, durationMs, ...(retryAfter === null ? {} : { retryAfter }) }
    } finally {
      this.#underWay--
      this.#deadlines.end(deadline)
    }
  }

  close(): void {
    this.#deadlines.close()
    for (const connection of this.#open) connection.close()
  }

  /** From 0 to the timeout, even if the clock is set or the timer is late. */
  #since(startedAt: number, now: number): number {
    return Math.min(Math.max(0, now - startedAt), this.#timeoutMs)
  }

  async #attempt(request: SendRequest, deadline: Deadline): Promise<ReceivedResponse | Failure> {
    const { organizationId, url, headers, body, ownConnection = false } = request
    const { hostname, port, origin, host, pathname, search } = new URL(url)
    const pieces = requestPieces(host, { path: pathname + search, headers, body })
    const addresses = usable(this.#resolver.known(hostname) ?? (await this.#resolve(hostname, deadline)))
    if ('kind' in addresses) return addresses
    const poolKey = `${organizationId} ${origin}`
    const warm = ownConnection ? undefined : this.#idle.take(poolKey, addresses)
    if (warm !== undefined) {
      const ended = await this.#exchange(warm, poolKey, pieces, deadline)
      if (ended.kind !== 'stale') return ended
      // The receiver had closed it. Whatever is not `stale` may have been processed and is not sent again here
      // (decision 23).
    }
    const target = { hostname, port: port === '' ? 443 : Number(port), addresses, doubtful: ownConnection }
    const fresh = await this.#dial(target, poolKey, deadline)
    if (!(fresh instanceof Connection)) return fresh
    const ended = await this.#exchange(fresh, poolKey, pieces, deadline)
    if (ended.kind === 'stale') throw new Error('A connection that never served cannot be stale')
    return ended.kind === 'failed' ? { ...ended, handshake: true } : ended
  }

  async #resolve(hostname: string, deadline: Deadline): Promise<Resolution> {
    const { promise: late, resolve } = Promise.withResolvers<Resolution>()
    const onPass = () =>
      resolve({ outcome: 'failed', detail: `${hostname} was not resolved in ${this.#timeoutMs} ms` })
    deadline.onPass = onPass
    if (deadline.passed) onPass()
    const looked = this.#resolver.resolve(hostname, { fresh: false, timeoutMs: this.#timeoutMs })
    const resolution = await Promise.race([looked, late])
    deadline.onPass = null
    return resolution
  }

  async #dial(
    target: { hostname: string; port: number; addresses: readonly string[]; doubtful: boolean },
    poolKey: string,
    deadline: Deadline,
  ): Promise<Connection | Failure> {
    this.#closeOldest()
    this.#dialing++
    const session = this.#sessions.of(poolKey)
    let connection: Connection | null = null
    try {
      const dialled = await dial(
        {
          ...target,
          secureContext: this.#secureContext,
          session: session?.bytes ?? null,
          proxy: this.#proxy,
          onSession: (bytes, resumed) => this.#sessions.keep(poolKey, bytes, resumed ? session : null),
          addressTimeoutMs: Math.max(10, Math.min(deliveryTuning.sender.perAddress, this.#timeoutMs / 4)),
        },
        deadline,
        // No bytes come before the connection is made, as soon as the handshake is done.
        (bytes) => connection?.read(bytes),
      )
      if ('kind' in dialled) {
        // A receiver that fails on its own session gets a full handshake at the next attempt.
        this.#sessions.forget(poolKey)
        return dialled
      }
      connection = new Connection(dialled, (closed) => this.#forget(closed))
      this.#open.add(connection)
      return connection
    } finally {
      this.#dialing--
    }
  }

  /** Connections that are neither idle nor closing are in attempts, of which there are fewer than sockets. */
  #closeOldest(): void {
    while (this.#dialing + this.#open.size >= this.#maxSockets) {
      const oldest = this.#idle.oldest
      if (oldest === undefined) return
      this.#forget(oldest)
      oldest.close()
    }
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection)
    this.#idle.remove(connection)
  }

  async #exchange(
    connection: Connection,
    poolKey: string,
    pieces: RequestPieces,
    deadline: Deadline,
  ): Promise<ReceivedResponse | Failure | Stale> {
    const ended = await connection.exchange(pieces, deadline, this.#clock)
    if (connection.usable && !deadline.passed) this.#idle.put(poolKey, connection)
    return ended
  }
}

function usable(resolution: Resolution): readonly string[] | Failure {
  switch (resolution.outcome) {
    case 'addresses':
      return resolution.addresses
    case 'not_public':
      return { ...failure('address_not_public', resolution.detail), block: resolution.block }
    case 'no_such_name':
      return failure('address_not_public', resolution.detail)
    case 'failed':
      return failure('resolver_failed', resolution.detail)
  }
}
