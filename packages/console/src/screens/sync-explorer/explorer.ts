/**
 * A client of the stream in the browser: it reads from the beginning, or from now, waits for changes, and holds a copy
 * that it compares with the service's checkpoints. The SDK does the work; this holds what the screen shows.
 */
import {
  type Change,
  type Checkpoint,
  type Client,
  changesUpTo,
  comparedRows,
  createClient,
  DeskwireError,
  findDifferences,
  MemoryCopy,
  type Row,
  type SyncPage,
} from '@deskwire/sdk'
import { ApiProblem, Unreachable } from '../../api/problem.ts'
import { endSession } from '../../session/store.ts'
import { type Entry, entryOf, labelOf, withEntries } from './entries.ts'

type From = 'beginning' | 'now'

/** The state of the copy of one kind. */
export interface KindState {
  readonly kind: string
  readonly held: Checkpoint
  /** The service's checkpoint, as of the last page; null before the copy has caught up. */
  readonly served: Checkpoint | null
  readonly isExact: boolean
}

interface Found {
  readonly type: 'missing' | 'changed' | 'extra'
  readonly kind: string
  readonly id: string
  readonly label: string
}

/** What was deliberately broken in the copy, and what the comparison found. */
export type Trial =
  | {
      readonly step: 'broken'
      readonly kind: string
      readonly how: 'lost' | 'changed'
      readonly label: string
    }
  | { readonly step: 'comparing'; readonly kind: string }
  | {
      readonly step: 'found'
      readonly kind: string
      readonly differences: readonly Found[]
      readonly calls: number
    }
  | { readonly step: 'repaired'; readonly kind: string; readonly rows: number }

export interface ExplorerState {
  readonly phase: 'idle' | 'reading' | 'following' | 'paused' | 'ended'
  readonly from: From
  readonly startedAt: string
  /** Newest last. */
  readonly entries: readonly Entry[]
  readonly count: number
  /** Rows that the service has, of all kinds. */
  readonly total: number
  readonly cursor: string | null
  readonly kinds: readonly KindState[]
  /** When the copy was last compared with a checkpoint, in milliseconds. */
  readonly provedAt: number | null
  readonly trial: Trial | null
  /** Why it has ended. */
  readonly error: Error | null
  /** A temporary problem: it goes on by itself. */
  readonly temporaryProblem: string | null
}

const beginning: ExplorerState = {
  phase: 'idle',
  from: 'beginning',
  startedAt: '',
  entries: [],
  count: 0,
  total: 0,
  cursor: null,
  kinds: [],
  provedAt: null,
  trial: null,
  error: null,
  temporaryProblem: null,
}

/** Milliseconds between two updates of the screen, however many changes come. */
const updateEvery = 100

const pathOf = (kind: string) => `${kind}s`

interface Differing extends Found {
  /** The service's row; null where it has none. */
  readonly row: Row | null
}

export class Explorer {
  readonly #client: Client
  readonly #listeners = new Set<() => void>()
  #state = beginning
  #shown = beginning
  #picture: ReturnType<typeof setTimeout> | undefined
  #copies = new Map<string, MemoryCopy<Row>>()
  #served = new Map<string, Checkpoint>()
  /** The rows that the list of changes has brought. The copy may be ahead of it, or broken on purpose. */
  #known = new Set<string>()
  #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #differing: readonly Differing[] = []
  #calls = 0

  constructor(apiKey: string) {
    this.#client = createClient({
      baseUrl: `${window.location.origin}/v1`,
      apiKey,
      fetch: (url, init) => {
        this.#calls += 1
        return fetch(url, init)
      },
    })
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): ExplorerState => this.#shown

  /** Starts anew. Only a start from the beginning builds a copy. */
  start(from: From): void {
    this.#stopping.abort()
    this.#copies = new Map()
    this.#served = new Map()
    this.#known = new Set()
    this.#differing = []
    const startedAt = new Date().toISOString()
    this.#become({ ...beginning, from, startedAt, phase: from === 'now' ? 'following' : 'reading' })
    this.#run()
  }

  pause(): void {
    this.#stopping.abort()
    const { trial } = this.#state
    this.#become({
      phase: 'paused',
      temporaryProblem: null,
      trial: trial?.step === 'comparing' ? null : trial,
    })
  }

  /** Goes on from the cursor, without a gap. After a restore the cursor is refused. */
  resume(): void {
    const { error, from } = this.#state
    if (error instanceof ApiProblem && error.code === 'cursor_too_old') {
      this.start(from)
      return
    }
    this.#become({ phase: 'following', error: null })
    this.#run()
  }

  stop(): void {
    this.#stopping.abort()
    clearTimeout(this.#picture)
    this.#picture = undefined
  }

  /** Deliberately drops or changes a row of the copy. */
  async breakRow(kind: string, how: 'lost' | 'changed'): Promise<void> {
    const copy = this.#copies.get(kind)
    const rows = [...(copy?.rows.values() ?? [])]
    const row = rows[Math.floor(Math.random() * rows.length)]
    if (copy === undefined || row === undefined) return
    await copy.apply(
      how === 'lost'
        ? { type: 'removed', id: row.id, resource: kind, removedAt: row.updatedAt }
        : { type: 'upsert', row: { ...row, broken: 'on purpose' } as Row },
    )
    this.#become({ trial: { step: 'broken', kind, how, label: labelOf(row) || row.id } })
    this.#compareProofs()
  }

  /** Finds which rows of a kind differ, by digests of ranges of ids. */
  async findDifferences(kind: string): Promise<void> {
    const copy = this.#copies.get(kind)
    if (copy === undefined) return
    const wasFollowing = this.#state.phase === 'following'
    this.#stopping.abort()
    await this.#running
    this.#become({ trial: { step: 'comparing', kind } })
    const stopping = new AbortController()
    this.#stopping = stopping
    const { signal } = stopping
    const callsBefore = this.#calls
    const compared = comparedRows(copy.rows, async ({ asOf }) => {
      const cursor = this.#state.cursor ?? undefined
      const pages = this.#client.changes.sync({ cursor }, { signal })
      for await (const change of changesUpTo(pages, asOf)) await this.#apply(change as Change<Row>)
    })
    const found: Differing[] = []
    try {
      const served = this.#client.kind(pathOf(kind))
      for await (const difference of findDifferences(served, compared, { signal })) {
        const row = difference.type === 'extra' ? null : difference.row
        const label = row === null ? '' : labelOf(row)
        found.push({ type: difference.type, kind, id: difference.id, label, row })
      }
    } catch (error) {
      if (!signal.aborted) this.#end(error)
      return
    }
    this.#differing = found
    const calls = this.#calls - callsBefore
    this.#become({ trial: { step: 'found', kind, differences: found, calls } })
    if (wasFollowing) this.#run()
  }

  /** Takes the service's row for each that differs. */
  async repair(): Promise<void> {
    const { trial } = this.#state
    if (trial === null) return
    for (const { kind, id, row } of this.#differing) {
      const copy = this.#copies.get(kind)
      const held = copy?.rows.get(id)
      if (row === null) await copy?.apply({ type: 'removed', id, resource: kind, removedAt: '' })
      // The stream may have brought a later version since.
      else if (held === undefined || held.updatedAt <= row.updatedAt)
        await copy?.apply({ type: 'upsert', row })
    }
    const rows = this.#differing.length
    this.#differing = []
    this.#become({ trial: { step: 'repaired', kind: trial.kind, rows } })
    this.#compareProofs()
  }

  #run(): void {
    this.#stopping = new AbortController()
    this.#running = this.#follow(this.#stopping.signal)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { from, cursor, startedAt } = this.#state
    const start = cursor !== null ? { cursor } : from === 'now' ? { updatedAfter: startedAt } : {}
    const onFailure = (error: DeskwireError) => this.#become({ temporaryProblem: error.detail })
    try {
      for await (const page of this.#client.changes.follow(start, { signal, onFailure })) {
        await this.#take(page as SyncPage<Row, Record<string, Checkpoint>>, signal)
      }
    } catch (error) {
      if (!signal.aborted) this.#end(error)
    }
  }

  async #take(page: SyncPage<Row, Record<string, Checkpoint>>, signal: AbortSignal): Promise<void> {
    if (this.#state.from === 'beginning') await Promise.all(page.changes.map((change) => this.#apply(change)))
    // The user has pressed something: the page comes again, from the same cursor.
    if (signal.aborted) return
    const { count, entries, phase, from } = this.#state
    const come = page.changes.map((change, i) => entryOf(change, count + i + 1, this.#isNew(change)))
    this.#become({
      entries: withEntries(entries, come),
      count: count + come.length,
      total: page.total,
      cursor: page.cursor,
      phase: phase === 'reading' && !page.hasMore ? 'following' : phase,
      temporaryProblem: null,
    })
    if (from !== 'beginning' || page.checkpoint === undefined) return
    this.#served = new Map(Object.entries(page.checkpoint))
    for (const kind of this.#served.keys()) this.#copyOf(kind)
    this.#compareProofs()
  }

  #isNew(change: Change<Row>): boolean {
    if (change.type === 'removed') {
      this.#known.delete(change.id)
      return false
    }
    const { id, createdAt } = change.row
    const isKnown = this.#known.has(id)
    this.#known.add(id)
    const { from, startedAt } = this.#state
    // From now, earlier rows are unknown too.
    return !isKnown && (from === 'beginning' || createdAt >= startedAt)
  }

  async #apply(change: Change<Row>): Promise<void> {
    await this.#copyOf(change.type === 'removed' ? change.resource : change.row.object).apply(change)
  }

  #copyOf(kind: string): MemoryCopy<Row> {
    const held = this.#copies.get(kind)
    if (held !== undefined) return held
    const copy = new MemoryCopy<Row>()
    this.#copies.set(kind, copy)
    return copy
  }

  #compareProofs(): void {
    const kinds = [...this.#copies].map(([kind, copy]): KindState => {
      const served = this.#served.get(kind) ?? null
      const isExact = served !== null && copy.verify(served).exact
      return { kind, held: copy.checkpoint, served, isExact }
    })
    this.#become({ kinds, provedAt: this.#served.size > 0 ? Date.now() : null })
  }

  #end(error: unknown): void {
    if (!(error instanceof DeskwireError)) {
      const shown = error instanceof Error ? error : new Error(String(error))
      this.#become({ phase: 'ended', error: shown, trial: null })
      return
    }
    if (error.status === 401) endSession(error.detail)
    const shown = error.status === 0 ? new Unreachable(error) : new ApiProblem(error)
    this.#become({ phase: 'ended', error: shown, trial: null })
  }

  #become(change: Partial<ExplorerState>): void {
    const isStep = change.phase !== undefined && change.phase !== this.#state.phase
    this.#state = { ...this.#state, ...change }
    // Actions of the user are shown at once, changes with the next update.
    if (isStep || change.trial !== undefined) this.#publish()
    else this.#picture ??= setTimeout(() => this.#publish(), updateEvery)
  }

  #publish(): void {
    clearTimeout(this.#picture)
    this.#picture = undefined
    this.#shown = this.#state
    for (const listener of this.#listeners) listener()
  }
}
