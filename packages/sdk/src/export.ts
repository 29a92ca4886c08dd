/** Everything of one kind in one answer, with a proof at its end. */

import { Digest, type RowsDigest } from './checkpoint.ts'
import type { Checkpoint, RemovalRecord, Row } from './envelope.ts'
import { readJson } from './json.ts'
import { linesOf } from './lines.ts'
import type { CallOptions } from './options.ts'
import { connectionFailed, unexpectedAnswer } from './problem.ts'
import { type Change, changeOf } from './sync.ts'
import type { Send } from './transport.ts'

/**
 * All rows of one kind as one answer, a first sync that the service makes (specification 8.2). Iterating it
 * sends the call; iterating it again sends another.
 *
 * Rows that change while it runs come again, and removals of rows that it may have brought come too, so each
 * change is to be applied to a copy, as in a sync. Its end is a proof: when the changes do not add up to the
 * checkpoint, or the answer breaks off, DeskwireError is thrown instead of an end. The proof keeps the id and
 * `updatedAt` of every row in memory, some 200 bytes a row.
 */
export class ExportStream<T extends Row> implements AsyncIterable<Change<T>> {
  readonly #send: Send
  readonly #path: string
  readonly #options: CallOptions
  #end: ExportEnd | undefined

  constructor(send: Send, path: string, options: CallOptions) {
    this.#send = send
    this.#path = `${path}/export`
    this.#options = options
  }

  /** Where a sync goes on from here; undefined until the end has come and has been proved. */
  get cursor(): string | undefined {
    return this.#end?.nextCursor
  }

  /** How many rows there are, and their digests; undefined as long as `cursor` is. */
  get checkpoint(): Checkpoint | undefined {
    return this.#end?.checkpoint
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Change<T>, void, undefined> {
    this.#end = undefined
    const body = await this.#ask()
    const proof = new Proof()
    let end: ExportEnd | undefined
    for await (const lines of linesOf(body, this.#options.signal)) {
      for (const line of lines) {
        const record = parsed<T | RemovalRecord | ExportEnd>(line)
        if (isEnd(record)) {
          end = record
          continue
        }
        const change = changeOf<T>(record)
        await proof.take(change)
        yield change
      }
    }
    if (end === undefined) throw brokenOff()
    const { count, digest } = await proof.checkpoint()
    if (count !== end.checkpoint.count || digest !== end.checkpoint.digest) {
      throw unexpectedAnswer(200, 'The rows of the export are not those of its checkpoint. Begin it again.')
    }
    this.#end = end
  }

  /**
   * The rows and removal records as the bytes that are served, in the pieces in which they arrive; begun anew with
   * each call, and without a proof: for a copy that is compared with a checkpoint of its own. Throws when it breaks
   * off before its last line, which is not among these.
   */
  async *texts(): AsyncGenerator<string[], void, undefined> {
    let isWhole = false
    for await (const lines of linesOf(await this.#ask(), this.#options.signal)) {
      isWhole = lines.at(-1)?.startsWith('{"object":"export_end"') ?? isWhole
      if (isWhole) lines.pop()
      yield lines
    }
    if (!isWhole) throw brokenOff()
  }

  #ask(): Promise<ReadableStream<Uint8Array>> {
    const accept = 'application/x-ndjson, application/problem+json'
    // A page of a proxy or of the console is no stream of records.
    const stream = /^(?!text\/html)/
    return this.#send({ method: 'GET', path: this.#path, accept, stream }, this.#options)
  }
}

interface ExportEnd {
  object: 'export_end'
  nextCursor: string
  checkpoint: Checkpoint
}

const brokenOff = () => connectionFailed(new Error('The export broke off before its last line.'))

const isEnd = (record: { object: string }): record is ExportEnd => record.object === 'export_end'

const parsed = <V>(line: string): V => {
  try {
    return readJson(line)
  } catch {
    throw unexpectedAnswer(200, `A line of the export is not JSON. It begins: ${line.slice(0, 200)}`)
  }
}

/** Hashes in flight at once, as in checkpoint.ts. */
const hashesAtOnce = 64

/** The checkpoint of what the changes so far come to. */
class Proof {
  readonly #digest = new Digest()
  readonly #held = new Map<string, string>()
  #hashing: Promise<void>[] = []

  async take(change: Change<Row>): Promise<void> {
    const id = change.type === 'upsert' ? change.row.id : change.id
    const before = this.#held.get(id)
    if (before !== undefined) this.#hashing.push(this.#digest.remove({ id, updatedAt: before }))
    if (change.type === 'removed') this.#held.delete(id)
    else {
      const { updatedAt } = change.row
      this.#held.set(id, updatedAt)
      this.#hashing.push(this.#digest.add({ id, updatedAt }))
    }
    if (this.#hashing.length >= hashesAtOnce) await this.#settle()
  }

  async checkpoint(): Promise<RowsDigest> {
    await this.#settle()
    return this.#digest.checkpoint
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#hashing)
    this.#hashing = []
  }
}
