/**
 * A copy of everything that a key may read, kept in a store, and verified. It begins with exports, which are fast,
 * and goes on with the stream of all kinds under one cursor, a page and its cursor in one transaction. When it has
 * caught up it compares what it has written with the service's checkpoint; `verify` compares what is stored with the
 * service, and `repair` fetches rows that somebody has changed.
 */
import { setTimeout } from 'node:timers/promises'
import { type AnyRow, type Change, type Client, DeskwireError } from '@deskwire/sdk'
import { type ComparedKind, type CopyDifference, compareCopy } from './compare.ts'
import {
  Copy,
  CopyGone,
  type CopyOptions,
  CopyOutgrown,
  endOf,
  hasCopy,
  type QuarantinedRow,
} from './copy.ts'
import { MirrorError } from './error.ts'
import { schemaTable, statusTable } from './own-table.ts'
import { kindsOf } from './schema.ts'
import { requireSame, type Selection } from './select.ts'
import { recordStatus } from './status.ts'
import { type Store, StoreUnavailable, WriteRefused } from './store.ts'

export interface MirrorOptions {
  readonly client: Client
  /** Opened when it is needed, and closed by `close`. */
  readonly store: Store
  /** `mark` keeps removed rows, with the time in `removed_at`. Default: `delete`. It is fixed when a copy begins. */
  readonly removals?: 'delete' | 'mark'
  /**
   * Whether a new copy takes over tables of its names that no mirror made. They have to fit, and their rows are
   * replaced. Default: false.
   */
  readonly adopts?: boolean
  /**
   * Whether each version of a row is kept too, in a table beside: `customers_history`. Default: what the copy has,
   * and not in a new one.
   */
  readonly history?: boolean | undefined
  /** What is kept. It is fixed when a copy begins; default: what the copy has, and everything in a new one. */
  readonly select?: Selection | undefined
  /** The secret of hashed fields, at least 16 characters, the same at every start. */
  readonly hashKey?: string | undefined
  /** Called while a copy is loaded, after each transaction. */
  readonly onLoaded?: (progress: LoadProgress) => void
  /** Called after each page with changes. */
  readonly onChanges?: (page: AppliedPage) => void
  /**
   * Called whenever the copy has caught up and matches the service's checkpoint. Only `verify` compares what the
   * store holds by then.
   */
  readonly onCaughtUp?: () => void
  /**
   * Called when a new copy is begun because the service was restored from a backup (410), and when rows were found to
   * differ.
   */
  readonly onTrouble?: (trouble: Trouble) => void
  /** For tests. Milliseconds since the Unix epoch. */
  readonly now?: () => number
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface LoadProgress {
  readonly rows: number
  /** Rows that the service had when the load began. */
  readonly total: number
}

export interface AppliedPage {
  /** Rows written and removed, by kind. */
  readonly changes: Readonly<Record<string, number>>
  /** The time of the last of them. */
  readonly asOf: string
}

export type Trouble =
  /** What is tried again, and after how many milliseconds. */
  | { readonly type: 'unavailable'; readonly error: Error; readonly pauseMs: number }
  | { readonly type: 'restored' }
  /** Without `_body`, new fields of a release make the copy be built again. */
  | { readonly type: 'rebuilt' }
  /**
   * The copy did not match the checkpoint, or its tables do not hold as many rows as were written; what differed was
   * fetched again.
   */
  | { readonly type: 'repaired'; readonly differences: readonly CopyDifference[] }
  /** The store cannot hold this row: it is kept apart from the tables until it changes or is removed. */
  | ({ readonly type: 'quarantined' } & QuarantinedRow)

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface MirrorFollowOptions extends CallOptions {
  /**
   * Default: `wait`, for which the service delays its response until something changes. `hints`: the mirror looks
   * when `hint()` is called, as by a receiver of webhooks, and every `everyMs`.
   */
  readonly by?: 'wait' | 'hints'
  readonly everyMs?: number
}

export interface Verification {
  /** Whether nothing differs and nothing is quarantined. */
  readonly exact: boolean
  readonly rows: Readonly<Record<string, number>>
  readonly differences: readonly CopyDifference[]
  /** Kinds that are kept in part: every row was fetched, and compared after the same selection. */
  readonly reduced?: readonly string[]
  /** Rows that the store cannot hold, which the tables lack. */
  readonly quarantined: readonly QuarantinedRow[]
}

/** Seconds for which the service may delay a response. */
const longestWait = 50
const [firstPause, longestPause] = [1_000, 30_000]
/** Milliseconds: an empty response that came sooner was not delayed, and the next request would not be either. */
const heldBack = 1_000
/** Milliseconds between two records of the status while changes arrive. */
const statusEvery = 10_000
/** How often rows are repaired before an error is thrown. */
const repairs = 2
const rowsPerRepair = 100

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())

export class Mirror {
  readonly #options: MirrorOptions
  readonly #of: CopyOptions
  readonly #sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  #copy: Promise<Copy> | undefined
  /** Whether kinds that the key may read by now were looked for. */
  #isExtended = false
  /** Whether the copy was begun by this mirror, and so has all declared fields. */
  #isNew = false
  #wake: () => void = () => {}
  #isHinted = false
  #recordedAt = 0

  constructor(options: MirrorOptions) {
    const { client, store, removals = 'delete', adopts = false, now = Date.now, sleep = pause } = options
    const { select, hashKey, history } = options
    this.#options = options
    this.#sleep = sleep
    const onQuarantined = (row: QuarantinedRow) => options.onTrouble?.({ type: 'quarantined', ...row })
    this.#of = {
      client,
      store,
      marksRemovals: removals === 'mark',
      adopts,
      history,
      select,
      hashKey,
      now,
      onQuarantined,
    }
  }

  /**
   * Brings the copy to the end of the stream, from nothing at the first call, and returns when what was written
   * matches the count and digests of the service's checkpoint, and the tables hold as many rows; repairs differences
   * first. Only `verify` compares what rows hold by now. After an interruption, the next call goes on.
   *
   * Throws DeskwireError when a call fails in spite of its retries, StoreUnavailable, WriteRefused, and MirrorError
   * for a store that holds something else.
   */
  async catchUp({ signal }: CallOptions = {}): Promise<void> {
    await this.#caughtUp(signal, undefined, true)
  }

  /**
   * Catches up, and follows changes until the signal is aborted, whose reason is thrown. Waits while service or store
   * cannot be reached, and while the store refuses a write; throws everything else as `catchUp` does.
   */
  async follow({ signal, by = 'wait', everyMs = 60_000 }: MirrorFollowOptions = {}): Promise<never> {
    const { now } = this.#of
    let wait: number | undefined
    let counts = true
    for (let failures = 0; ; ) {
      try {
        const since = now()
        const changes = await this.#caughtUp(signal, wait, counts)
        failures = 0
        counts = false
        if (by === 'hints') await this.#news(everyMs, signal)
        else if (wait !== undefined && changes === 0 && now() - since < heldBack) {
          await this.#sleep(firstPause, signal)
        }
        if (by === 'wait') wait = longestWait
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof Error) || !passes(error)) throw error
        wait = undefined
        const asked = error instanceof DeskwireError ? (error.retryAfterMs ?? 0) : 0
        const pauseMs =
          asked + Math.min(longestPause, firstPause * 2 ** failures++) * (0.5 + Math.random() / 2)
        this.#options.onTrouble?.({ type: 'unavailable', error, pauseMs })
        await this.#sleep(pauseMs, signal)
      }
    }
  }

  /** Lets `follow({ by: 'hints' })` look at once. */
  hint(): void {
    this.#isHinted = true
    this.#wake()
  }

  /**
   * Compares every row of the copy, its text and each column, with the service, after catching up, by digests of
   * ranges of ids, so that calls and bytes grow with the differences. No row is written, and writers on both sides go
   * on. Throws as `catchUp`, and MirrorError when the store holds no copy.
   */
  async verify({ signal }: CallOptions = {}): Promise<Verification> {
    await this.#requireCopy()
    await this.#advanced(signal, undefined)
    const compared = await this.#compared(signal)
    const differences = compared.flatMap(differencesOf)
    const rows = Object.fromEntries(compared.map(({ kind, found }) => [kind, found.text.count]))
    const quarantined = compared.flatMap((kind) => kind.quarantined)
    const differing = new Set([...differences, ...quarantined].map(({ kind }) => kind))
    const kinds = compared.map(({ kind }) => kind)
    const verifiedAt = this.#time()
    await recordStatus(this.#options.store, { verifiedAt, compared: kinds, differing: [...differing] })
    const reduced = compared.flatMap(({ kind, isReduced }) => (isReduced ? [kind] : []))
    return {
      exact: differences.length === 0 && quarantined.length === 0,
      rows,
      ...(reduced.length > 0 && { reduced }),
      differences,
      quarantined,
    }
  }

  /**
   * Fetches the rows that `verify` finds and the quarantined ones, and returns what differed. Missing tables and
   * columns are created again. What is `lost` stays lost; deleted rows are then no longer part of the copy. Throws as
   * `verify`.
   */
  async repair({ signal }: CallOptions = {}): Promise<readonly CopyDifference[]> {
    await this.#requireCopy()
    await (await this.#held())?.restoreShape()
    await this.#advanced(signal, undefined)
    const copy = await this.#opened(signal)
    const compared = await this.#compared(signal)
    for (const { kind, differences, removed, isMiscounted, quarantined, found, noted } of compared) {
      const ids = [...differences, ...quarantined].map(({ id }) => id)
      const extra = new Set(differences.flatMap(({ id, type }) => (type === 'extra' ? [id] : [])))
      if (ids.length > 0 || !found.equals(noted.text)) {
        // The notes are off by as much, whatever was written since.
        await copy.repairRows(kind, ids.splice(0, rowsPerRepair), extra, { from: noted, to: found })
        while (ids.length > 0) await copy.repairRows(kind, ids.splice(0, rowsPerRepair), extra, null)
      }
      if (removed.length === 0 && !isMiscounted) continue
      const marked = removed.flatMap(({ id, type }) => (type === 'changed' ? [id] : []))
      do await copy.repairRemoved(kind, marked.splice(0, rowsPerRepair))
      while (marked.length > 0)
    }
    return compared.flatMap(differencesOf)
  }

  async quarantined(): Promise<readonly QuarantinedRow[]> {
    await this.#requireCopy()
    const { store } = this.#options
    await store.open()
    return store.read(async (at) => (await Copy.noted('live', this.#of, at))?.quarantined(at) ?? [])
  }

  /** Abort running calls first. */
  async close(): Promise<void> {
    this.#copy = undefined
    this.#isExtended = false
    this.#isNew = false
    await this.#options.store.close()
  }

  /** A verification expects a copy: none is created in the wrong place. */
  async #requireCopy(): Promise<void> {
    if (this.#copy !== undefined || (await hasCopy(this.#options.store))) return
    await this.#options.store.close()
    throw new MirrorError('There is no copy in the store. catchUp() makes one.')
  }

  async #caughtUp(
    signal: AbortSignal | undefined,
    wait: number | undefined,
    counts: boolean,
  ): Promise<number> {
    let { changes, differing } = await this.#advanced(signal, wait)
    for (let attempts = 0; ; attempts++) {
      const wrong = new Set([...differing, ...(counts ? await this.#miscounted() : [])])
      if (wrong.size === 0) break
      if (attempts === repairs) {
        throw new MirrorError(
          `Repaired, the copy still does not add up to the service's checkpoint: ${[...wrong].join(', ')}. Does anybody else write to it?`,
        )
      }
      const differences = await this.repair({ signal })
      this.#options.onTrouble?.({ type: 'repaired', differences })
      const after = await this.#advanced(signal, undefined)
      changes += after.changes
      differing = after.differing
    }
    if (counts || this.#of.now() - this.#recordedAt >= statusEvery) {
      await recordStatus(this.#options.store, { caughtUpAt: this.#time() })
      this.#recordedAt = this.#of.now()
    }
    this.#options.onCaughtUp?.()
    return changes
  }

  /**
   * The kinds whose tables hold more or fewer rows than were written. @throws MirrorError when a table differs from
   * what was created.
   */
  #miscounted(): Promise<string[]> {
    return this.#options.store.read(async (at) => {
      const copy = await Copy.noted('live', this.#of, at)
      await copy?.requireShape(at)
      return (await copy?.miscounted(at)) ?? []
    })
  }

  /** The noted copy, in the form of this release. */
  async #held(): Promise<Copy | undefined> {
    const { store } = this.#options
    await store.open()
    const copy = await store.write((tx) => Copy.noted('live', this.#of, tx))
    if (copy === undefined) return undefined
    await this.#refuseOthers(copy)
    await copy.upgrade()
    if (this.#options.history && !copy.hasHistory) await copy.keepHistory()
    return copy
  }

  async #advanced(signal: AbortSignal | undefined, wait: number | undefined): Promise<Advanced> {
    const copy = await this.#opened(signal)
    try {
      if (!this.#isExtended && !this.#isNew) await copy.refit()
      await this.#load(copy, signal)
      if (!this.#isExtended) {
        const start = await copy.lacking()
        if (start !== undefined) {
          // The existing kinds need everything before it.
          await this.#read(copy, signal, undefined)
          await copy.extend(start)
          await this.#load(copy, signal)
        }
        this.#isExtended = true
      }
      return await this.#read(copy, signal, wait)
    } catch (error) {
      if (!isRestored(error) && !(error instanceof CopyOutgrown)) throw error
      this.#options.onTrouble?.({ type: error instanceof CopyOutgrown ? 'rebuilt' : 'restored' })
    }
    return this.#rebuild(copy, signal)
  }

  /** Builds a copy beside the one that cannot go on, and replaces it when the new one is proved. */
  async #rebuild(live: Copy, signal: AbortSignal | undefined): Promise<Advanced> {
    let next = await this.#options.store.write((tx) => Copy.noted('next', this.#of, tx))
    await next?.upgrade()
    for (;;) {
      next ??= await Copy.begin('next', this.#of, live)
      try {
        await this.#load(next, signal)
        const advanced = await this.#read(next, signal, undefined)
        if (advanced.differing.length === 0) {
          await live.replaceBy(next, this.#time())
          return advanced
        }
        await next.drop()
      } catch (error) {
        if (error instanceof CopyGone) {
          await live.reload()
          return this.#advanced(signal, undefined)
        }
        if (!isRestored(error) && !(error instanceof CopyOutgrown)) throw error
        await next.drop()
      }
      next = undefined
    }
  }

  /** The store's copy, or a new one; loaded. */
  #opened(signal: AbortSignal | undefined): Promise<Copy> {
    this.#copy ??= this.#open(signal).catch((error) => {
      this.#copy = undefined
      throw error
    })
    return this.#copy
  }

  async #open(signal: AbortSignal | undefined): Promise<Copy> {
    const { client, store } = this.#options
    if (!(await hasCopy(store))) {
      // Nothing is created when something else has one of the names.
      const [{ kinds }, declared] = [await endOf(client, signal), kindsOf(await client.document({ signal }))]
      const tables = kinds.flatMap((kind) => {
        const { plural } = declared.get(kind) ?? {}
        return plural === undefined ? [] : [plural, ...(this.#of.history ? [`${plural}_history`] : [])]
      })
      await store.open({ free: this.#of.adopts ? [] : [...tables, statusTable.name, schemaTable.name] })
    }
    let copy = await this.#held()
    if (copy === undefined) {
      copy = await Copy.begin('live', this.#of)
      this.#isNew = true
    } else await store.read((at) => (copy as Copy).requireShape(at))
    return copy
  }

  async #refuseOthers(copy: Copy): Promise<void> {
    const { client, removals, select, hashKey } = this.#options
    requireSame(copy.selection, select, hashKey)
    const { id, name } = await client.organization.get()
    if (copy.organizationId !== id) {
      throw new MirrorError(
        `The store holds a copy of organization ${copy.organizationId}, and the key is of ${id} (${name}). Give each a store of its own.`,
      )
    }
    if (removals !== undefined && copy.marksRemovals !== (removals === 'mark')) {
      const begun = copy.marksRemovals ? 'mark' : 'delete'
      throw new MirrorError(
        `The copy was begun with removals: '${begun}'. Go on with that, or begin another.`,
      )
    }
  }

  async #load(copy: Copy, signal: AbortSignal | undefined): Promise<void> {
    if (!copy.isLoading) return
    const { client, onLoaded } = this.#options
    const { counts } = await endOf(client, signal)
    const total = [...copy.tables.keys()].reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)
    await copy.load(signal, (rows) => onLoaded?.({ rows, total }))
  }

  /** Applies pages until it has caught up, and compares the copy with the checkpoint. */
  async #read(copy: Copy, signal: AbortSignal | undefined, wait: number | undefined): Promise<Advanced> {
    const { client, onChanges } = this.#options
    for (let changes = 0, waits = wait; ; waits = undefined) {
      const { cursor } = copy
      const { value: page } = await client.changes.sync({ cursor, wait: waits }, { signal }).next()
      if (page === undefined) throw new MirrorError('The service answered no page.')
      if (page.changes.length > 0) {
        const kept = copy.kept(page.changes)
        if (!(await copy.apply(cursor, { ...page, changes: [...kept] }))) continue
        changes += kept.length
        if (kept.length > 0) onChanges?.(appliedPage(kept))
      }
      if (page.checkpoint !== undefined) return { changes, differing: copy.differing(page.checkpoint) }
    }
  }

  /** What differs in one snapshot of the store, and by how much its sums are off. */
  async #compared(signal: AbortSignal | undefined): Promise<ComparedKind[]> {
    const { client, store } = this.#options
    return store.read(async (at) => {
      const copy = await Copy.noted('live', this.#of, at)
      if (copy === undefined) throw new MirrorError('The copy is gone from the store. Begin again.')
      await copy.requireShape(at)
      return compareCopy({ client, store }, copy, at, signal)
    })
  }

  async #news(everyMs: number, signal: AbortSignal | undefined): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (!this.#isHinted) {
      const signals = signal ? [signal, woken.signal] : [woken.signal]
      await this.#sleep(everyMs, AbortSignal.any(signals)).catch(() => {})
    }
    signal?.throwIfAborted()
    this.#isHinted = false
  }

  #time(): string {
    return new Date(this.#of.now()).toISOString()
  }
}

interface Advanced {
  readonly changes: number
  readonly differing: readonly string[]
}

function appliedPage(changes: readonly Change<AnyRow>[]): AppliedPage {
  const kinds: Record<string, number> = {}
  let asOf = ''
  for (const change of changes) {
    const kind = change.type === 'upsert' ? change.row.object : change.resource
    kinds[kind] = (kinds[kind] ?? 0) + 1
    asOf = change.type === 'upsert' ? change.row.updatedAt : change.removedAt
  }
  return { changes: kinds, asOf }
}

const differencesOf = ({ differences, removed }: ComparedKind) => [...differences, ...removed]

const isRestored = (error: unknown) => error instanceof DeskwireError && error.code === 'cursor_too_old'

/** Whether it may pass by itself: service or store cannot be reached, or the store refused a write. */
export function passes(error: unknown): boolean {
  if (error instanceof DeskwireError) return error.isTransient
  return error instanceof StoreUnavailable || error instanceof WriteRefused
}
