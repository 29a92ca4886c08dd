/**
 * TLS sessions, to be gone on with: whoever gets a delivery now and then has no connection left that was kept, and a connection with
 * a whole handshake costs the worker half as much again as one that resumes a session (1.5 ms and 1.0, with an EC certificate).
 *
 * Promise: a session serves the organization and origin that it was made for, and for so long only since that receiver's certificate
 * was last verified: sessions that follow from resumed ones are as old as the first. A resumed handshake looks at no certificate.
 * Only what is authorized is to be put in. Which address is connected to is checked as ever; an address that moved to
 * another server cannot resume, and TLS then falls back to a whole handshake by itself.
 */
import { LruMap } from '../../kernel/lru-map.ts'
import { stopwatch } from '../../kernel/timestamps.ts'

interface TlsSession {
  /** As Node hands it out and takes it. */
  readonly bytes: Buffer
  /** By the stopwatch: a clock that is set makes none valid for longer. */
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

  /** The session to offer to a receiver; it may be offered more than once. */
  of(pool: string): TlsSession | null {
    const session = this.#sessions.get(pool)
    if (session === undefined) return null
    if (this.#elapsed() - session.verifiedAt < this.#lasts) return session
    this.#sessions.delete(pool)
    return null
  }

  /** Keeps what the receiver gave for next time; `resumed` is the session that its connection went on with, if it did. */
  keep(pool: string, bytes: Buffer, resumed: TlsSession | null): void {
    this.#sessions.set(pool, { bytes, verifiedAt: resumed?.verifiedAt ?? this.#elapsed() })
  }

  /** The next handshake is a whole one. */
  forget(pool: string): void {
    this.#sessions.delete(pool)
  }
}
