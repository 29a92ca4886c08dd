/**
 * One copy in a store: its tables and its position, which is written in the same transaction as the rows. So a
 * process that dies loses nothing, and one that comes late, after another process has advanced the copy, notices it.
 */
import { hash } from 'node:crypto'
import {
  type AnyRow,
  type Change,
  type Checkpoint,
  type Client,
  DeskwireError,
  type SyncPage,
} from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { MirrorError } from './error.ts'
import { historyOf, refilled, versionOf, versionTime } from './history.ts'
import { adopt, adoptOwn, allIds, recordSchema, rowsOfPiece } from './own-table.ts'
import {
  isoTime,
  isUuid,
  type Members,
  membersOf,
  removalOf,
  removedAtOf,
  storedRow,
  takes,
  updatedAtOf,
} from './row.ts'
import { type Kind, kindsOf, tableOf } from './schema.ts'
import { Chooser, type NotedSelection, notedSelection, type Selection } from './select.ts'
import {
  type Column,
  NameTaken,
  type Removal,
  type RemovedRow,
  RowRefused,
  type Store,
  type StoredRow,
  type StoreReader,
  StoreUnavailable,
  type StoreWriter,
  type Table,
  type VersionEnd,
  WriteRefused,
} from './store.ts'
import { Sums, type SumsText } from './sums.ts'

/** `next` is built beside `live` when that cannot go on, and replaces it when it is complete. */
type CopyName = 'live' | 'next'

export interface CopyOptions {
  readonly client: Client
  readonly store: Store
  readonly marksRemovals: boolean
  readonly history?: boolean | undefined
  /** Whether a new copy takes over tables that fit, and replaces their rows. */
  readonly adopts?: boolean
  readonly select?: Selection | undefined
  readonly hashKey?: string | undefined
  readonly now: () => number
  readonly onQuarantined?: (row: QuarantinedRow) => void
}

/**
 * A row that the store cannot hold: it counts as part of the copy, and is kept apart from the tables until it changes
 * or is removed.
 */
export interface QuarantinedRow {
  readonly kind: string
  readonly id: string
  readonly reason: string
  readonly text: string
}

/** A row's position in the stream of its kind. */
interface StreamPosition {
  readonly updatedAt: string
  readonly id: string
}

interface ServedRow {
  readonly text: string
  readonly members: Members
}

/** What each transaction notes about the copy. */
interface Position {
  /**
   * In form 1 tables have no `_removal`; form 3 has a selection, and form 4 types and required values, which earlier
   * releases would not keep to.
   */
  readonly form: 1 | 2 | 3 | 4
  readonly organizationId: string
  readonly marksRemovals: boolean
  readonly selection?: NotedSelection
  /** Whether versions are kept. */
  readonly history?: boolean
  /** Where the stream goes on. */
  readonly cursor: string
  readonly sums: Readonly<Record<string, SumsText>>
  /** Kinds whose rows up to `asOf` are still being loaded, and how far each is. Later changes come by the stream. */
  readonly loading: {
    readonly asOf: string
    readonly kinds: Readonly<Record<string, StreamPosition | null>>
  } | null
  /** How often the tables were changed. */
  readonly tables: number
  /** By kind, how many removed rows are kept, if any. */
  readonly removed?: Readonly<Record<string, number>>
  readonly quarantined?: number
  /** By kind, the time of the last change; earlier releases noted none. */
  readonly last?: Readonly<Record<string, string>>
}

interface Written {
  readonly sums: Sums
  /** The time of the last change among those that were written. */
  last?: string
  /** Changes in the numbers of removed and of quarantined rows. */
  removed: number
  quarantined: number
}

type Refused = ReadonlyMap<string, string>

/** Characters of rows that are loaded in one transaction: some thousands of rows. */
const charactersOfBatch = 4 * 1024 * 1024

/** Milliseconds for which the service's document counts as current when a row has an undeclared member. */
const documentAge = 60_000

/** Later than everything, so that a sync from here begins at the end of the stream. */
const end = '9999-12-31T23:59:59.999Z'

export class Copy {
  readonly name: CopyName
  readonly #options: CopyOptions
  readonly #tables: Map<string, Table>
  /** By kind and field, whether its column can hold a value. */
  readonly #known = new Map<string, Map<string, (value: unknown) => boolean>>()
  #position: Position
  #chooser: Chooser
  #justQuarantined: QuarantinedRow[] = []
  #documentReadAt = Number.NEGATIVE_INFINITY

  private constructor(name: CopyName, options: CopyOptions, noted: Noted) {
    this.name = name
    this.#options = options
    this.#position = noted.position
    this.#chooser = new Chooser(noted.position.selection, options.hashKey)
    this.#tables = new Map()
    this.#take(noted)
  }

  /** The copy with this name as a reader sees it; undefined without one. */
  static async noted(name: CopyName, options: CopyOptions, at: StoreReader): Promise<Copy | undefined> {
    const noted = await notedOf(name, at)
    return noted && new Copy(name, options, noted)
  }

  /**
   * An empty copy of every kind that the key may read. @throws NameTaken when another table has the name of one of
   * its tables.
   */
  static async begin(name: CopyName, options: CopyOptions, like?: Copy): Promise<Copy> {
    const { client, store, marksRemovals, adopts, hashKey } = options
    const [{ id: organizationId }, end] = [await client.organization.get(), await endOf(client)]
    const declared = kindsOf(await client.document())
    const selection =
      like === undefined
        ? notedSelection(options.select, hashKey, declared, end.kinds)
        : like.#position.selection
    const chooser = new Chooser(selection, hashKey)
    const start = {
      ...end,
      kinds: end.kinds.filter((kind) => chooser.keeps(kindNamed(declared, kind).plural)),
    }
    if (marksRemovals && !chooser.hasBody)
      throw new MirrorError(
        'Marked removals need `_body`, by which they are proved. Delete removals, or keep it.',
      )
    const tables = new Map(like?.tables)
    const history = like === undefined ? options.history : like.hasHistory
    const position: Position = {
      form: 4,
      ...(history && { history }),
      ...(selection && { selection }),
      organizationId,
      marksRemovals,
      cursor: start.cursor,
      sums: emptySums(start.kinds),
      loading: { asOf: await lastMoment(client, declared, start.kinds), kinds: allOf(start.kinds) },
      tables: 0,
    }
    for (const [kind, table] of tables) {
      tables.set(kind, { ...table, name: tableName(name, table.name) })
    }
    for (const kind of start.kinds) {
      const of = chooser.kind(kindNamed(declared, kind))
      tables.set(kind, tableOf(of, tableName(name, of.plural), marksRemovals, tables.get(kind)))
    }
    const noted: Noted = { position, tables: [...tables].filter(([kind]) => kind in position.sums) }
    const begun = await store.write(async (tx) => {
      // Another process may have begun it meanwhile.
      const there = await notedOf(name, tx)
      if (there !== undefined) return there
      if (adopts && name === 'live') await adoptOwn(tx)
      for (const table of allTables(noted)) {
        if (adopts) await adopt(tx, table)
        else await make(tx, table)
      }
      await note(tx, name, noted)
      return noted
    })
    return new Copy(name, options, begun)
  }

  get cursor(): string {
    return this.#position.cursor
  }

  get organizationId(): string {
    return this.#position.organizationId
  }

  get marksRemovals(): boolean {
    return this.#position.marksRemovals
  }

  get selection(): NotedSelection | undefined {
    return this.#position.selection
  }

  get hasHistory(): boolean {
    return this.#position.history === true
  }

  get hasBody(): boolean {
    return this.#chooser.hasBody
  }

  /** How rows of a kind are reduced; undefined for one that is kept as it is served. */
  chooserOf(kind: string) {
    return this.#chooser.of(this.#plural(kind))
  }

  /** The changes of kinds that are kept. */
  kept(changes: readonly Change<AnyRow>[]): readonly Change<AnyRow>[] {
    if (this.selection?.kinds === undefined) return changes
    return changes.filter((change) =>
      this.#tables.has(change.type === 'upsert' ? change.row.object : change.resource),
    )
  }

  get isLoading(): boolean {
    return this.#position.loading !== null
  }

  get tables(): ReadonlyMap<string, Table> {
    return this.#tables
  }

  sumsOf(kind: string): Sums {
    return new Sums(this.#position.sums[kind])
  }

  get rows(): number {
    return Object.values(this.#position.sums).reduce((sum, { count }) => sum + count, 0)
  }

  differing(checkpoints: Readonly<Record<string, Checkpoint>>): string[] {
    return Object.entries(checkpoints).flatMap(([kind, checkpoint]) => {
      const table = this.#tables.get(kind)
      if (table === undefined && this.selection?.kinds !== undefined) return []
      const sums = this.sumsOf(kind)
      const isReduced = table !== undefined && this.#chooser.reduces(plain(table.name))
      return (isReduced ? sums.covers(checkpoint) : sums.equals(checkpoint)) ? [] : [kind]
    })
  }

  /** Reads the notes again: another process may have advanced the copy. @throws CopyGone */
  async reload(): Promise<void> {
    // As a writer: a reader could wait for another until the end of a verification.
    const noted = await this.#options.store.write((tx) => notedOf(this.name, tx))
    if (noted === undefined) throw new CopyGone('The copy is gone from the store. Begin again.')
    this.#take(noted)
  }

  /** Converts a copy of an earlier release: removed rows had no mark, and tables no index on `updated_at`. */
  async upgrade(): Promise<void> {
    const { form, tables } = this.#position
    if (form === 4) return
    const isCurrent = await this.#write(async (tx) => {
      if (!this.isLoading) for (const table of this.#tables.values()) await tx.index(table)
      const after = { ...this.#position, form: 4 as const, tables: tables + 1 }
      if (form !== 1) return { ...this.#noted, position: after }
      const removed: Record<string, number> = {}
      for (const [kind, table] of this.#tables) {
        if (!table.marksRemovals) continue
        await tx.define(table)
        const removals: Removal[] = []
        for await (const piece of tx.rows(table, allIds)) {
          for (const { id, text, removedAt } of piece)
            if (removedAt) removals.push(removalFor({ id, text }, isoTime(removedAt)))
        }
        removed[kind] = removals.length
        while (removals.length > 0) await tx.remove(table, removals.splice(0, rowsOfPiece))
      }
      return { ...this.#noted, position: { ...after, removed } }
    })
    if (!isCurrent) await this.upgrade()
  }

  /**
   * Keeps versions from now on, beginning with those that are there. @throws MirrorError for a copy without `_body`.
   */
  async keepHistory(): Promise<void> {
    if (!this.hasBody)
      throw new MirrorError(
        'The copy was begun without history and without `_body`, from which its first versions would be made. Begin another with both options.',
      )
    while (!this.hasHistory)
      await this.#write(async (tx) => {
        const { position, tables } = this.#noted
        for (const table of this.#tables.values()) {
          await make(tx, historyOf(table))
          await this.#beginHistory(tx, table)
        }
        return { position: { ...position, history: true }, tables }
      })
  }

  /** Makes the rows of a table the first versions. */
  async #beginHistory(tx: StoreWriter, table: Table): Promise<void> {
    const history = historyOf(table)
    const ids: string[] = []
    for await (const piece of tx.rows(table, allIds)) ids.push(...piece.map(({ id }) => id))
    while (ids.length > 0) {
      const held = await tx.get(table, ids.splice(0, rowsOfPiece))
      const rows = held.flatMap(({ id, text }) => {
        const members = membersOf(text)
        return members?.id === id && updatedAtOf(members) !== '' ? [storedRow(table, text, members)] : []
      })
      if (rows.length > 0)
        await tx.put(
          history,
          rows.map((row) => versionOf(table, row)),
        )
    }
    if (!this.isLoading) await tx.index(history)
  }

  /** @throws MirrorError when a table differs from what the mirror created. */
  async requireShape(at: StoreReader): Promise<void> {
    for (const table of allTables(this.#noted)) {
      const drift = await at.drift(table)
      if (drift === undefined) throw drifted(`The copy's table ${table.name} is not there.`)
      if (drift.length > 0)
        throw drifted(
          `The copy's table ${table.name} was changed: ${drift.map(({ text }) => text).join('; ')}.`,
        )
    }
  }

  /**
   * Creates missing tables and columns again, without their values. @throws MirrorError for what cannot be created
   * so.
   */
  async restoreShape(): Promise<void> {
    const restore = async (tx: StoreWriter) => {
      for (const table of allTables(this.#noted)) {
        const drift = await tx.drift(table)
        const other = drift?.find(({ isMissing }) => !isMissing)
        if (other !== undefined)
          throw new MirrorError(
            `The copy's table ${table.name} was changed: ${other.text}. Change that back, or drop the table, and repair again.`,
          )
        if (drift?.length === 0) continue
        await tx.define(table)
        if (!this.isLoading) await tx.index(table)
        const of = [...this.#tables.values()].find((one) => historyOf(one).name === table.name)
        if (this.hasHistory && of !== undefined && this.hasBody) await this.#beginHistory(tx, of)
      }
      return this.#noted
    }
    // If nothing is missing, nothing is written.
    const isWhole = await this.#options.store.read(async (at) => {
      // A connection takes one statement at a time.
      for (const table of allTables(this.#noted)) if ((await at.drift(table))?.length !== 0) return false
      return true
    })
    if (isWhole) return
    while (!(await this.#write(restore)));
  }

  /** The kinds whose tables hold another number of rows than were written. */
  async miscounted(at: StoreReader): Promise<string[]> {
    const kinds: string[] = []
    for (const [kind, table] of this.#tables) {
      const { existing, removed } = await at.count(table)
      const { length } = await this.quarantined(at, kind)
      if (existing + length !== this.sumsOf(kind).text.count || removed !== this.removedOf(kind))
        kinds.push(kind)
    }
    return kinds
  }

  removedOf(kind: string): number {
    return this.#position.removed?.[kind] ?? 0
  }

  async quarantined(at: StoreReader, kind?: string): Promise<QuarantinedRow[]> {
    if (!this.#position.quarantined) return []
    return (await at.notes(quarantineNote(this.name, kind))).map((value) => readJson(value))
  }

  async refit(): Promise<void> {
    const { client, now } = this.#options
    this.#documentReadAt = now()
    await this.#widen(kindsOf(await client.document()))
  }

  /** The end of the stream of all kinds that the key may read, if some of them are not kept. */
  async lacking(): Promise<Start | undefined> {
    const start = await endOf(this.#options.client)
    // Selected kinds are all there from the beginning.
    const isWhole =
      this.selection?.kinds !== undefined || start.kinds.every((kind) => kind in this.#position.sums)
    return isWhole ? undefined : start
  }

  /** Begins to keep all kinds of `start`, once the copy has everything before it. New kinds then have to be loaded. */
  async extend(start: Start): Promise<void> {
    const { client } = this.#options
    const { marksRemovals } = this.#position
    const declared = kindsOf(await client.document())
    const added = start.kinds.filter((kind) => !(kind in this.#position.sums))
    const asOf = await lastMoment(client, declared, added)
    await this.#write(async (tx) => {
      const tables = new Map(this.#tables)
      for (const kind of added) {
        const of = this.#chooser.kind(kindNamed(declared, kind))
        const table = tableOf(of, tableName(this.name, of.plural), marksRemovals)
        await make(tx, table)
        if (this.hasHistory) await make(tx, historyOf(table))
        tables.set(kind, table)
      }
      const { position } = this.#noted
      const sums = { ...position.sums, ...emptySums(added) }
      const loading = { asOf, kinds: allOf(added) }
      const after = { ...position, cursor: start.cursor, sums, loading, tables: position.tables + 1 }
      return { position: after, tables: [...tables] }
    })
  }

  /** Loads what is left, and reports after each transaction how many rows there are. */
  async load(signal: AbortSignal | undefined, onRows: (rows: number) => void): Promise<void> {
    for (;;) {
      const { loading } = this.#position
      if (loading === null) return
      const [kind] = Object.keys(loading.kinds)
      if (kind !== undefined) {
        await this.#loadKind(kind, signal, onRows)
        continue
      }
      await this.#write(async (tx) => {
        for (const table of allTables(this.#noted)) await tx.index(table)
        return { ...this.#noted, position: { ...this.#position, loading: null } }
      })
    }
  }

  /**
   * An export is in the order of the stream, so what has been loaded is what comes before a position. It is read up
   * to `asOf`: later changes come by the stream, whose cursor is not later than `asOf`. So each row comes once, and
   * is added without looking for an existing one.
   */
  async #loadKind(
    kind: string,
    signal: AbortSignal | undefined,
    onRows: (rows: number) => void,
  ): Promise<void> {
    const { client } = this.#options
    const plural = this.#plural(kind)
    const { asOf, kinds } = this.#position.loading ?? { asOf: '', kinds: {} }
    const from = kinds[kind] ?? null
    const choose = this.chooserOf(kind)
    let batch: ServedRow[] = []
    let characters = 0
    let isCurrent = true
    let writing: Promise<void> | undefined
    const flush = async (isEnd: boolean) => {
      await writing
      const rows = batch
      batch = []
      characters = 0
      if (isCurrent) writing = write(rows, isEnd)
      // Awaited with the next batch: while the store writes this one, that is read.
      writing?.catch(() => {})
    }
    const write = async (rows: readonly ServedRow[], isEnd: boolean) => {
      await this.#learn(kind, rows)
      const stored = () => rows.map(({ text, members }) => storedRow(this.#table(kind), text, members))
      isCurrent = await this.#writeRows(kind, stored, async (tx, refused) => {
        const { position, tables } = this.#noted
        const { loading } = position
        const table = this.#table(kind)
        const written = this.#unchanged(kind)
        const aside: QuarantinedRow[] = []
        const sound = this.#sound(kind, table, counted(table, rows, written.sums), refused, aside)
        if (rows.length > 0) await this.#append(tx, table, sound)
        await this.#setAside(tx, aside, written)
        const { [kind]: _, ...others } = loading?.kinds ?? {}
        const last = rows.at(-1)?.members as StreamPosition | undefined
        if (last !== undefined) written.last = last.updatedAt
        const place = last ? { updatedAt: last.updatedAt, id: last.id } : (loading?.kinds[kind] ?? null)
        const left = isEnd ? others : { [kind]: place, ...others }
        return {
          tables,
          position: { ...moved(position, { [kind]: written }), loading: { asOf, kinds: left } },
        }
      })
      if (isCurrent && rows.length > 0) onRows(this.rows)
    }
    try {
      reading: for await (const texts of client.kind(plural).export({ signal }).texts()) {
        if (!isCurrent) break
        for (const text of texts) {
          const members = readJson(text) as StreamPosition & Members & { removedAt?: string }
          if ((members.removedAt ?? members.updatedAt) > asOf) break reading
          if (members.object === 'removed' || (from !== null && !isAfter(members, from))) continue
          batch.push(choose ? choose(members) : { text, members })
          characters += text.length
        }
        if (characters >= charactersOfBatch) await flush(false)
      }
      await flush(true)
    } finally {
      await writing
    }
  }

  async #append(tx: StoreWriter, table: Table, rows: Iterable<StoredRow>): Promise<void> {
    if (!this.hasHistory) return tx.append(table, rows)
    const versions: StoredRow[] = []
    const noting = function* () {
      for (const row of rows) {
        versions.push(versionOf(table, row))
        yield row
      }
    }
    await tx.append(table, noting())
    await tx.append(historyOf(table), versions)
  }

  /** Applies a page that was requested with a cursor. False, without an effect, when the copy has advanced since. */
  async apply(from: string, page: SyncPage<AnyRow, unknown>): Promise<boolean> {
    const kinds = new Map<string, Map<string, Removal | ServedRow>>()
    const latest: Record<string, string> = {}
    for (const change of page.changes) {
      const [kind, id] =
        change.type === 'upsert' ? [change.row.object, change.row.id] : [change.resource, change.id]
      const changes = kinds.get(kind) ?? new Map()
      const members = change.type === 'upsert' ? (change.row as object) : undefined
      changes.set(id, members ? this.#served(kind, members as Members) : change)
      kinds.set(kind, changes)
      latest[kind] = change.type === 'upsert' ? change.row.updatedAt : change.removedAt
    }
    for (const [kind, changes] of kinds) {
      await this.#learn(
        kind,
        [...changes.values()].flatMap((change) => ('text' in change ? [change] : [])),
      )
    }
    if (from !== this.cursor) return false
    const rowsOf = (kind: string) =>
      [...(kinds.get(kind)?.values() ?? [])].flatMap((change) =>
        'text' in change ? [storedRow(this.#table(kind), change.text, change.members)] : [],
      )
    return await this.#writeRows([...kinds.keys()], rowsOf, async (tx, refused) => {
      const { position, tables } = this.#noted
      const written: Record<string, Written> = {}
      for (const [kind, changes] of kinds) {
        const removals = [...changes.values()].flatMap((change) => ('text' in change ? [] : [change]))
        const into = this.#unchanged(kind)
        written[kind] = into
        into.last = latest[kind] ?? ''
        await this.#replaceRows(tx, kind, into, { rows: rowsOf(kind), removals, erased: [], refused })
      }
      return { tables, position: { ...moved(position, written), cursor: page.cursor } }
    })
  }

  /**
   * Writes these rows as the service has them now; a row may so be newer than the position, and comes again by the
   * stream. Rows that the service does not have are deleted; with marked removals only `extra` ones, as the stream
   * brings other removals. `error`: how far the sums are off.
   */
  async repairRows(
    kind: string,
    ids: readonly string[],
    extra: ReadonlySet<string>,
    error: { readonly from: Sums; readonly to: Sums } | null,
  ): Promise<void> {
    const resource = this.#options.client.kind(this.#plural(kind))
    let rows: StoredRow[] = []
    const work = async (tx: StoreWriter, refused: Refused) => {
      const table = this.#table(kind)
      // Requested while nobody else writes, so that nothing newer is overwritten.
      const served = ids.length === 0 ? [] : await resource.getMany(ids)
      rows = served.map((row) => {
        const { text, members } = this.#served(kind, { ...row })
        return storedRow(table, text, members)
      })
      const there = new Set(rows.map(({ id }) => id))
      const erased = ids.filter((id) => !there.has(id) && (!table.marksRemovals || extra.has(id)))
      const { position, tables } = this.#noted
      const written = this.#unchanged(kind)
      if (error) written.sums.shift(error)
      await this.#replaceRows(tx, kind, written, { rows, removals: [], erased, refused })
      return { tables, position: moved(position, { [kind]: written }) }
    }
    while (!(await this.#writeRows(kind, () => rows, work)));
  }

  /** Rewrites removed rows from their text and mark, and notes how many there are. */
  async repairRemoved(kind: string, ids: readonly string[]): Promise<void> {
    const table = this.#table(kind)
    const work = async (tx: StoreWriter) => {
      await rewriteRemoved(tx, table, ids)
      const { position, tables } = this.#noted
      const { removed } = await tx.count(table)
      return { tables, position: { ...position, removed: { ...position.removed, [kind]: removed } } }
    }
    while (!(await this.#write(work)));
  }

  /**
   * Replaces this copy by another, which is gone then. @throws CopyGone when another process has advanced that one or
   * has done this.
   */
  async replaceBy(other: Copy, removedAt: string): Promise<void> {
    const { store } = this.#options
    await store.write(async (tx) => {
      if ((await tx.note(other.name)) !== JSON.stringify(other.#position))
        throw new CopyGone('Another process has moved the new copy.')
      const tables: [string, Table][] = []
      const removed: Record<string, number> = {}
      for (const [kind, by] of other.#tables) {
        const table = { ...by, name: tableName(this.name, plain(by.name)) }
        if (this.#tables.has(kind)) await tx.define(table)
        else await make(tx, table)
        const gone = table.marksRemovals || this.hasHistory ? [...(await tx.idsBeyond(table, by))] : []
        if (this.hasHistory) await this.#replaceHistory(tx, table, by, gone, removedAt)
        while (table.marksRemovals && gone.length > 0) {
          const rows = await tx.get(table, gone.splice(0, rowsOfPiece))
          await tx.remove(
            table,
            rows.map((row) => removalFor(row, removedAt)),
          )
        }
        await tx.replace(table, by)
        await tx.index(table)
        await tx.drop(by)
        tables.push([kind, table])
        removed[kind] = (await tx.count(table)).removed
      }
      // Tables of kinds that are gone stay, and are known as the mirror's own.
      const left = [...this.#tables].flatMap(([kind, table]) =>
        kind in removed ? [] : [table.name, ...(this.hasHistory ? [historyOf(table).name] : [])],
      )
      await tx.setNote(leftNote, JSON.stringify([...new Set([...(await leftOf(tx)), ...left])]))
      const aside = await other.quarantined(tx)
      for (const row of await this.quarantined(tx))
        await tx.setNote(quarantineNote(this.name, row.kind, row.id), null)
      for (const row of aside) {
        await tx.setNote(quarantineNote(other.name, row.kind, row.id), null)
        await tx.setNote(quarantineNote(this.name, row.kind, row.id), JSON.stringify(row))
      }
      const versions = this.#position.tables + 1
      await note(tx, this.name, { position: { ...other.#position, removed, tables: versions }, tables })
      await note(tx, other.name, undefined)
    })
    await this.reload()
  }

  /** Adds the versions of another copy, before its rows. */
  async #replaceHistory(
    tx: StoreWriter,
    table: Table,
    by: Table,
    removed: readonly string[],
    at: string,
  ): Promise<void> {
    const gone = [...removed]
    const [history, next] = [historyOf(table), historyOf(by)]
    if ((await tx.drift(history)) === undefined) await make(tx, history)
    else await tx.define(history)
    const ends: VersionEnd[] = []
    for await (const piece of tx.rows(by, allIds))
      ends.push(...piece.map(({ id, text }) => ({ id, at: updatedAtOf(membersOf(text)) })))
    if (table.marksRemovals) ends.push(...gone.map((id) => ({ id, at })))
    while (ends.length > 0) await tx.endVersions(history, ends.splice(0, rowsOfPiece), 'row_id')
    await tx.replace(history, next, true)
    while (!table.marksRemovals && gone.length > 0)
      await tx.erase(history, gone.splice(0, rowsOfPiece), 'row_id')
    await tx.index(history)
    await tx.drop(next)
  }

  async drop(): Promise<void> {
    await this.#options.store.write(async (tx) => {
      for (const table of allTables(this.#noted)) await tx.drop(table)
      for (const { kind, id } of await this.quarantined(tx))
        await tx.setNote(quarantineNote(this.name, kind, id), null)
      await note(tx, this.name, undefined)
    })
  }

  /** Writes, removes and deletes rows of a kind, and updates the notes. */
  async #replaceRows(
    tx: StoreWriter,
    kind: string,
    written: Written,
    changes: {
      readonly rows: readonly StoredRow[]
      readonly removals: readonly { readonly id: string; readonly removedAt: string }[]
      readonly erased: readonly string[]
      readonly refused: Refused
    },
  ): Promise<void> {
    const { rows, removals, erased, refused } = changes
    const table = this.#table(kind)
    const { sums } = written
    const ids = new Set([...[...rows, ...removals].map(({ id }) => id), ...erased])
    const held = new Map<string, StoredRow>()
    for (const row of await tx.get(table, [...ids].filter(isUuid))) {
      held.set(row.id, row)
      sums.count(row.id, updatedAtOf(membersOf(row.text)), row.text, -1)
    }
    for (const { id, text } of await this.quarantined(tx, kind)) {
      if (!ids.has(id)) continue
      sums.count(id, updatedAtOf(membersOf(text)), text, -1)
      written.quarantined--
      await tx.setNote(quarantineNote(this.name, kind, id), null)
    }
    for (const { id, text } of rows) sums.count(id, updatedAtOf(membersOf(text)), text)
    await tx.erase(
      table,
      erased.filter((id) => held.has(id)),
    )
    // The service has some of them again: it was restored.
    const back = rows.map(({ id }) => id).filter(isUuid)
    if (back.length > 0) for await (const piece of tx.removed(table, back)) written.removed -= piece.length
    const sound = await this.#putOrSetAside(tx, kind, table, rows, refused, written)
    if (this.hasHistory) {
      const history = historyOf(table)
      const ends = rows
        .filter(({ id }) => isUuid(id))
        .map((row) => ({ id: row.id, at: versionTime(table, row) }))
      await tx.endVersions(history, ends, 'row_id')
      const versions = sound.map((row) => versionOf(table, row))
      if (versions.length > 0) await tx.put(history, versions)
      const gone = removals.map(({ id, removedAt }) => ({ id, at: removedAt })).filter(({ id }) => isUuid(id))
      // The stream does not tell an erased person from a deleted row: what is removed leaves no version.
      if (table.marksRemovals) await tx.endVersions(history, gone, 'row_id')
      const ids = [...(table.marksRemovals ? [] : gone.map(({ id }) => id)), ...erased.filter(isUuid)]
      await tx.erase(history, ids, 'row_id')
    }
    const gone = removals.flatMap(({ id, removedAt }) => {
      const row = held.get(id)
      return row === undefined ? [] : [removalFor(row, removedAt)]
    })
    if (gone.length > 0) await tx.remove(table, gone)
    if (table.marksRemovals) written.removed += gone.length
  }

  /** Adds or replaces rows; those that the store cannot hold are quarantined, and deleted from the table. */
  async #putOrSetAside(
    tx: StoreWriter,
    kind: string,
    table: Table,
    rows: readonly StoredRow[],
    refused: Refused,
    written: Written,
  ): Promise<readonly StoredRow[]> {
    const aside: QuarantinedRow[] = []
    const sound = [...this.#sound(kind, table, rows, refused, aside)]
    if (sound.length > 0) await tx.put(table, sound)
    await tx.erase(table, aside.map(({ id }) => id).filter(isUuid))
    await this.#setAside(tx, aside, written)
    return sound
  }

  async #setAside(tx: StoreWriter, rows: readonly QuarantinedRow[], written: Written): Promise<void> {
    for (const row of rows) await tx.setNote(quarantineNote(this.name, row.kind, row.id), JSON.stringify(row))
    written.quarantined += rows.length
    this.#justQuarantined.push(...rows)
  }

  /** The rows that the store can hold; the others go into `aside`. */
  *#sound(
    kind: string,
    table: Table,
    rows: Iterable<StoredRow>,
    refused: Refused,
    aside: QuarantinedRow[],
  ): Generator<StoredRow> {
    const { store } = this.#options
    for (const row of rows) {
      const { id, text } = row
      const reason = refused.get(id) ?? (isUuid(id) ? store.refusal?.(table, row) : 'its id is not a UUID')
      if (reason === undefined) yield row
      else aside.push({ kind, id, reason, text })
    }
  }

  /**
   * Writes as `#write` does. If the store refuses a value, the refused rows are found by trial, and `work` is called
   * again with them.
   */
  async #writeRows(
    kinds: string | readonly string[],
    rowsOf: (kind: string) => readonly StoredRow[],
    work: (tx: StoreWriter, refused: Refused) => Promise<Noted>,
  ): Promise<boolean> {
    const refused = new Map<string, string>()
    for (;;) {
      try {
        return await this.#write((tx) => work(tx, refused))
      } catch (error) {
        if (!(error instanceof RowRefused)) throw error
        let isRelaxed = false
        for (const kind of [kinds].flat()) {
          const fields = new Set(rowsOf(kind).flatMap((row) => lacking(this.#table(kind), row)))
          if (fields.size > 0) await this.#relax(kind, fields)
          isRelaxed ||= fields.size > 0
        }
        if (isRelaxed) continue
        const before = refused.size
        for (const kind of [kinds].flat()) await this.#findRefused(kind, rowsOf(kind), refused)
        // No row is to blame: a rule about other tables is, as a foreign key.
        if (refused.size === before) throw new WriteRefused('The store', error)
      }
    }
  }

  async #findRefused(kind: string, rows: readonly StoredRow[], refused: Map<string, string>): Promise<void> {
    const table = this.#table(kind)
    const sound = [...this.#sound(kind, table, rows, refused, [])]
    const taken: StoredRow[] = []
    const takes = async (some: readonly StoredRow[]): Promise<void> => {
      const reason = await this.#refusal(table, [...taken, ...some])
      if (reason === undefined) taken.push(...some)
      else if (some[0] && some.length === 1) refused.set(some[0].id, reason)
      else {
        await takes(some.slice(0, some.length >> 1))
        await takes(some.slice(some.length >> 1))
      }
    }
    await takes(sound)
  }

  /** Why the store refuses these rows; the trial is undone. */
  async #refusal(table: Table, rows: readonly StoredRow[]): Promise<string | undefined> {
    const undone = new Error('undone')
    try {
      await this.#options.store.write(async (tx) => {
        await tx.put(table, rows)
        throw undone
      })
    } catch (error) {
      if (error === undone) return undefined
      if (error instanceof RowRefused) return error.message
      throw error
    }
    return undefined
  }

  /**
   * When a row has a member without a column, or of another type, reads the service's document again and takes over
   * what it declares.
   */
  async #learn(kind: string, rows: readonly { readonly members: Members }[]): Promise<void> {
    const known = this.#known.get(kind)
    const isKnown = ({ members }: { members: Members }) => {
      for (const field in members) {
        const takes = known?.get(field)
        if (known && (takes === undefined || !takes(members[field]))) return false
      }
      return true
    }
    if (rows.every(isKnown)) return
    const { client, now } = this.#options
    if (now() - this.#documentReadAt < documentAge) return
    this.#documentReadAt = now()
    await this.#widen(kindsOf(await client.document()))
  }

  /** Adds declared columns, and replaces those of other types, with the values of existing rows. */
  async #widen(declared: ReadonlyMap<string, Kind>): Promise<void> {
    const changed = [...this.#tables].flatMap(([kind, table]) => {
      const of = declared.get(kind)
      const now = of && tableOf(this.#chooser.kind(of), table.name, table.marksRemovals, table)
      return now && JSON.stringify(now.columns) !== JSON.stringify(table.columns)
        ? [{ kind, table: now, fresh: freshColumns(table, now) }]
        : []
    })
    if (changed.length === 0) return
    if (!this.hasBody && this.rows > 0 && changed.some(({ fresh }) => fresh.length > 0))
      throw new CopyOutgrown()
    const isCurrent = await this.#write(async (tx) => {
      const filled: Record<string, Written> = {}
      for (const { kind, table, fresh } of changed) {
        const drift = new Set((await tx.drift(table))?.map(({ column }) => column))
        await tx.define(table)
        const into = this.#unchanged(kind)
        filled[kind] = into
        // A store may have the same type for both.
        const empty = fresh.filter(({ name, isNew }) => isNew || drift.has(name))
        if (empty.length > 0) await this.#fillIn(tx, kind, table, into, empty)
        if (this.hasHistory) await this.#widenHistory(tx, table, fresh.length > 0)
        if (!this.isLoading) await tx.index(table)
      }
      const position = moved(this.#position, filled)
      const tables = new Map([...this.#tables, ...changed.map(({ kind, table }) => [kind, table] as const)])
      return { position: { ...position, tables: position.tables + 1 }, tables: [...tables] }
    })
    // Another process has done the same first.
    if (!isCurrent) await this.reload()
  }

  async #widenHistory(tx: StoreWriter, table: Table, isFresh: boolean): Promise<void> {
    const history = historyOf(table)
    await tx.define(history)
    if (!isFresh) return
    const ids: string[] = []
    for await (const piece of tx.rows(history, allIds)) ids.push(...piece.map(({ id }) => id))
    while (ids.length > 0) {
      const held = await tx.get(history, ids.splice(0, rowsOfPiece))
      await tx.put(
        history,
        held.flatMap((row) => refilled(history, row) ?? []),
      )
    }
  }

  /** Lets columns have nulls, as rows have come that lack a value. */
  async #relax(kind: string, fields: ReadonlySet<string>): Promise<void> {
    await this.#write(async (tx) => {
      const held = this.#table(kind)
      const columns = held.columns.map((column) =>
        fields.has(column.field) ? { ...column, required: false } : column,
      )
      const table = { ...held, columns }
      await tx.define(table)
      const { position, tables } = this.#noted
      return {
        position: { ...position, tables: position.tables + 1 },
        tables: [...new Map(tables).set(kind, table)],
      }
    })
  }

  async #fillIn(
    tx: StoreWriter,
    kind: string,
    table: Table,
    written: Written,
    empty: readonly Pick<Column, 'field'>[],
  ): Promise<void> {
    const hasValue = ({ id, text }: StoredRow) => {
      const members = membersOf(text)
      return members?.id === id && empty.some(({ field }) => (members[field] ?? null) !== null)
    }
    const [ids, removed]: [string[], string[]] = [[], []]
    for await (const piece of tx.rows(table, allIds)) ids.push(...piece.filter(hasValue).map(({ id }) => id))
    for await (const piece of tx.removed(table, allIds))
      removed.push(...piece.filter(hasValue).map(({ id }) => id))
    while (ids.length > 0) {
      const held = await tx.get(table, ids.splice(0, rowsOfPiece))
      const rows = held.map(({ text }) => storedRow(table, text, membersOf(text) ?? {}))
      // What somebody has taken a value from is found by a verification.
      const sound = rows.filter((row) => lacking(table, row).length === 0)
      await this.#putOrSetAside(tx, kind, table, sound, new Map(), written)
    }
    while (removed.length > 0) await rewriteRemoved(tx, table, removed.splice(0, rowsOfPiece))
  }

  /**
   * A transaction that ends at the position that `work` returns; false, without an effect, when another process has
   * advanced the copy.
   */
  async #write(work: (tx: StoreWriter) => Promise<Noted>): Promise<boolean> {
    const { store, onQuarantined } = this.#options
    this.#justQuarantined = []
    const written = store.write(async (tx) => {
      if ((await tx.note(this.name)) !== JSON.stringify(this.#position)) return undefined
      const noted = await work(tx)
      await note(tx, this.name, noted, noted.position.tables !== this.#position.tables)
      return noted
    })
    const after = await written.catch(async (error) => {
      // A store's error about a missing column does not help.
      if (!isExpected(error)) await store.read((at) => this.requireShape(at))
      throw error
    })
    if (after === undefined) await this.reload()
    else {
      this.#take(after)
      for (const row of this.#justQuarantined) onQuarantined?.(row)
    }
    return after !== undefined
  }

  #unchanged(kind: string): Written {
    return { sums: this.sumsOf(kind), removed: 0, quarantined: 0 }
  }

  get #noted(): Noted {
    return { position: this.#position, tables: [...this.#tables] }
  }

  #take({ position, tables }: Noted): void {
    this.#position = position
    this.#tables.clear()
    for (const [kind, table] of tables) {
      this.#tables.set(kind, table)
      this.#known.set(kind, new Map(table.columns.map(({ field, type }) => [field, takes[type]])))
      this.#known.get(kind)?.set('object', () => true)
    }
  }

  /** A row of the service, as far as it is kept. */
  #served(kind: string, members: Members): ServedRow {
    return this.chooserOf(kind)?.(members) ?? { text: JSON.stringify(members), members }
  }

  #table(kind: string): Table {
    const table = this.#tables.get(kind)
    if (table === undefined) throw new MirrorError(`The copy has no table of kind ${kind}. Begin it again.`)
    return table
  }

  #plural(kind: string): string {
    return plain(this.#table(kind).name)
  }
}

/** Whether a store has a copy. Opens it, and creates nothing. */
export async function hasCopy(store: Store): Promise<boolean> {
  if (!(await store.open({ creates: false }))) return false
  return await store.read(async (at) => (await notedOf('live', at)) !== undefined)
}

interface Start {
  readonly cursor: string
  readonly kinds: readonly string[]
}

/** New columns need values of rows whose text is not kept: the copy has to be built again. */
export class CopyOutgrown extends Error {}

/** The copy is gone, or another process has changed it. */
export class CopyGone extends MirrorError {}

export interface Noted {
  readonly position: Position
  readonly tables: readonly (readonly [kind: string, table: Table])[]
}

/** The tables of a copy, each with that of its versions, if they are kept. */
function allTables({ position, tables }: Noted): Table[] {
  return tables.flatMap(([, table]) => (position.history ? [table, historyOf(table)] : [table]))
}

/** What the store notes of a copy; undefined without one. */
export async function notedOf(name: CopyName, at: StoreReader): Promise<Noted | undefined> {
  const [position, tables] = [await at.note(name), await at.note(`${name} tables`)]
  if (position === undefined || tables === undefined) return undefined
  const parsed = readJson(position) as Position
  if (![1, 2, 3, 4].includes(parsed.form))
    throw new MirrorError('The store holds a copy of a later release of @deskwire/mirror. Update this one.')
  return { position: parsed, tables: readJson(tables) }
}

async function note(
  tx: StoreWriter,
  name: CopyName,
  noted: Noted | undefined,
  withTables = true,
): Promise<void> {
  await tx.setNote(name, noted ? JSON.stringify(noted.position) : null)
  if (!withTables) return
  await tx.setNote(`${name} tables`, noted ? JSON.stringify(noted.tables) : null)
  if (noted === undefined || name !== 'live') return
  await recordSchema(
    tx,
    noted.tables.map(([, table]) => table),
    noted.position.tables + 1,
  )
}

/** Rows as they are stored, each created and counted when it is taken. */
function* counted(table: Table, rows: readonly ServedRow[], sums: Sums): Generator<StoredRow> {
  for (const { text, members } of rows) {
    sums.count(members.id as string, updatedAtOf(members), text)
    yield storedRow(table, text, members)
  }
}

/** The end of the stream of all kinds that the key may read, and how many rows each has. */
export async function endOf(
  client: Client,
  signal?: AbortSignal,
): Promise<Start & { readonly counts: Readonly<Record<string, number>> }> {
  const { value: page } = await client.changes.sync({ updatedAfter: end, limit: 1 }, { signal }).next()
  if (page?.checkpoint === undefined) throw new MirrorError('The service did not say which kinds there are.')
  const counts = Object.fromEntries(Object.entries(page.checkpoint).map(([kind, { count }]) => [kind, count]))
  return { cursor: page.cursor, kinds: Object.keys(counts), counts }
}

/** The time of the organization's last commit: that of the digests of no ids, as all kinds have one order. */
async function lastMoment(
  client: Client,
  declared: ReadonlyMap<string, Kind>,
  [kind = '']: readonly string[],
): Promise<string> {
  const [after, before] = ['ffffffff-ffff-ffff-ffff-fffffffffffe', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
  const { asOf } = await client.kind(kindNamed(declared, kind).plural).digests({ after, before, parts: 1 })
  return asOf
}

function kindNamed(declared: ReadonlyMap<string, Kind>, name: string): Kind {
  const kind = declared.get(name)
  if (kind === undefined)
    throw new MirrorError(`The service has rows of kind ${name}, which its openapi.json does not declare.`)
  return kind
}

function moved(position: Position, written: Readonly<Record<string, Written>>): Position {
  const sums = { ...position.sums }
  const removed = { ...position.removed }
  const last = { ...position.last }
  let quarantined = position.quarantined ?? 0
  for (const [kind, one] of Object.entries(written)) {
    sums[kind] = one.sums.text
    if (one.removed !== 0) removed[kind] = (removed[kind] ?? 0) + one.removed
    quarantined += one.quarantined
    if ((one.last ?? '') > (last[kind] ?? '')) last[kind] = one.last ?? ''
  }
  return { ...position, sums, removed, quarantined, last }
}

const leftNote = 'left'

async function leftOf(at: StoreReader): Promise<string[]> {
  return readJson((await at.note(leftNote)) ?? '[]')
}

/** Creates a table. @throws NameTaken when something has its name that is not a copy's. */
async function make(tx: StoreWriter, table: Table): Promise<void> {
  if ((await tx.drift(table)) !== undefined) {
    const left = await leftOf(tx)
    if (!left.includes(table.name)) throw new NameTaken(table.name)
    await tx.drop(table)
    await tx.setNote(leftNote, JSON.stringify(left.filter((name) => name !== table.name)))
  }
  await tx.define(table)
}

/** The columns that have to be filled, as they are new or of another type. */
function freshColumns(before: Table, now: Table) {
  return now.columns.flatMap(({ field, name, type }) => {
    const held = before.columns.find((column) => column.field === field)
    return held?.type === type ? [] : [{ field, name, isNew: held === undefined }]
  })
}

/** The required fields that a row has no value of. */
const lacking = ({ columns }: Table, { cells }: StoredRow) =>
  columns.flatMap(({ field, required }, n) => (required && cells[n] === null ? [field] : []))

const drifted = (what: string) =>
  new MirrorError(
    `${what} Change it back, or have it made and filled again: \`deskwire mirror repair\`, or repair() of a mirror.`,
  )

const isExpected = (error: unknown) =>
  [StoreUnavailable, RowRefused, MirrorError, DeskwireError].some((type) => error instanceof type)

/** The name of a quarantined row's note, or the prefix of those of a kind or of a copy. */
function quarantineNote(copy: CopyName, kind?: string, id?: string): string {
  const name = id === undefined || isUuid(id) ? id : hash('sha256', id)
  return [copy, 'quarantine', ...(kind === undefined ? [] : [kind]), name ?? ''].join(' ')
}

const removalFor = ({ id, text }: Pick<StoredRow, 'id' | 'text'>, removedAt: string): Removal => ({
  id,
  removedAt,
  removal: removalOf(id, removedAt, text),
})

/** Rewrites the columns of removed rows from their text and mark; a row in which those disagree stays. */
async function rewriteRemoved(tx: StoreWriter, table: Table, ids: readonly string[]): Promise<void> {
  const rows: RemovedRow[] = []
  for await (const piece of tx.removed(table, ids)) rows.push(...piece)
  const sound = rows.flatMap((row) => {
    const removedAt = removedAtOf(row)
    return removedAt === undefined ? [] : [{ ...row, removedAt }]
  })
  if (sound.length === 0) return
  await tx.put(
    table,
    sound.map(({ id, text }) => ({ ...storedRow(table, text, membersOf(text) ?? {}), id })),
  )
  await tx.remove(
    table,
    sound.map((row) => removalFor(row, row.removedAt)),
  )
}

const emptySums = (kinds: readonly string[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, new Sums().text]))

const allOf = (kinds: readonly string[]) => Object.fromEntries(kinds.map((kind) => [kind, null]))

const isAfter = (row: StreamPosition, place: StreamPosition) =>
  row.updatedAt > place.updatedAt || (row.updatedAt === place.updatedAt && row.id > place.id)

const suffix = '_next'
const tableName = (copy: CopyName, name: string) => (copy === 'next' ? `${name}${suffix}` : name)
const plain = (name: string) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : name)
