/**
 * TLS sessions to resume: a full handshake costs the worker 1.5 ms, a resumed one 1.0 ms (EC certificate).
 *
 * A session serves the organization and origin that it was made for, and only for `lasts` since that receiver's certificate was verified,
 * as a resumed handshake checks no certificate: sessions that follow from a resumed one are as old as the first. Addresses are checked as
 * ever; another server at the address cannot resume, and TLS then makes a full handshake.
 */
import { LruMap } from '../../kernel/lru-map.ts'
import { stopwatch } from '../../kernel/timestamps.ts'

interface TlsSession {
  readonly bytes: Buffer
  /** By a stopwatch, so that setting the clock extends none. */
  readonly verifiedAt: number
}

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
