/** The stream of every kind that the client's key may read, as one (`GET /v1/changes`; specification 7.7). */
import type { Checkpoint } from './envelope.ts'
import { type FollowOptions, followPages } from './follow.ts'
import type { AnyRow } from './generated.ts'
import type { CallOptions } from './options.ts'
import { type SyncPage, type SyncParams, syncPages } from './sync.ts'
import type { Send } from './transport.ts'

/** Counts and digests, by the name of the kind (`customer`). */
export type Checkpoints = Record<string, Checkpoint>

type Page = SyncPage<AnyRow, Checkpoints>

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
  sync(params: SyncParams = {}, options?: CallOptions): AsyncGenerator<Page, void, undefined> {
    return syncPages<AnyRow, Checkpoints>(this.#send, '/changes', params, options)
  }

  /** The same without an end: waits for changes, and continues after failures. See `followPages`. */
  follow(params: SyncParams = {}, options?: FollowOptions): AsyncGenerator<Page, never, undefined> {
    return followPages<AnyRow, Checkpoints>(this.#send, '/changes', params, options)
  }
}
