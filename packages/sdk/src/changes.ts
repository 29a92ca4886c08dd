/** The stream of every kind that the client's key may read, as one (`GET /v1/changes`; specification 7.7). */
import type { Checkpoint } from './envelope.ts'
import { type FollowOptions, followPages } from './follow.ts'
import type { AnyRow } from './generated.ts'
import { type SyncOptions, type SyncPage, syncPages } from './sync.ts'
import type { Send } from './transport.ts'

/** Counts and digests, by the name of the kind (`customer`). */
export type Checkpoints = Record<string, Checkpoint>

export class Changes {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * The pages of a sync of all kinds until caught up, in one order under one cursor; `row.object` tells the kinds
   * apart. The last page has a checkpoint for each kind. A sync keeps to the kinds that the key could read when it
   * began. See `syncPages` for what it promises and throws.
   */
  sync(options: SyncOptions = {}): AsyncGenerator<SyncPage<AnyRow, Checkpoints>, void, undefined> {
    return syncPages<AnyRow, Checkpoints>(this.#send, '/changes', options)
  }

  /** The same without an end: waits for news, and goes on after failures. See `followPages`. */
  follow(options: FollowOptions = {}): AsyncGenerator<SyncPage<AnyRow, Checkpoints>, never, undefined> {
    return followPages<AnyRow, Checkpoints>(this.#send, '/changes', options)
  }
}
