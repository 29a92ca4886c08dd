/**
 * One copy in a store: its tables and its position, which is written in the transaction of the rows that lead to it. Whoever dies
 * between two transactions has lost nothing, and whoever comes late, because another process has moved the copy on, notices it.
 */
import type { AnyRow, Checkpoint, Client, SyncPage } from '@deskwire/sdk'
import { MirrorError } from './error.ts'
import { type Members, membersOf, storedRow, updatedAtOf } from './row.ts'
import { type Kind, kindsOf, tableOf } from './schema.ts'
import type { Removal, Store, StoredRow, StoreReader, StoreWriter, Table } from './store.ts'
import { Sums, type SumsText } from './sums.ts'

/** `next` is built beside `live` when that cannot go on, and takes its place when it is whole. */
export type CopyName = 'live' | 'next'

export interface CopyOptions {
  readonly client: Client
  readonly store: Store
  readonly marksRemovals: boolean
  readonly now: () => number
}

/** A row's place in the stream of its kind. */
interface Place {
  readonly updatedAt: string
  readonly id: string
}

/** A row as it came, and what JSON.parse made of it. */
interface ServedRow {
  readonly text: string
  readonly members: Members
}

/** What is noted of a copy with each transaction. */
interface Position {
  /** Raised when what is noted here takes another form. */
  readonly form: 1
  readonly organizationId: string
  readonly marksRemovals: boolean
  /** Where the stream goes on. */
  readonly cursor: string
  /** Of each kind what its rows came to when they were written. */
  readonly sums: Readonly<Record<string, SumsText>>
  /** Kinds whose rows of up to `asOf` are still being loaded, and how far each is. What is later comes by the stream. */
  readonly loading: { readonly asOf: string; readonly kinds: Readonly<Record<string, Place | null>> } | null
  /** How often the tables were changed. */
  readonly tables: number
}

/** Characters of rows that are loaded in one transaction: some thousands of rows. */
const charactersOfBatch = 4 * 1024 * 1024

/** How long the service's document is taken for current when a row has a member that it does not declare. Milliseconds. */
const documentAge = 60_000

/** Later than everything, so that a sync from here on begins where the stream ends. */
const end = '9999-12-31T23:59:59.999Z'

export class Copy {
  readonly name: CopyName
  readonly #options: CopyOptions
  readonly #tables: Map<string, Table>
  /** The names of a row's members that have a column, by kind. */
  readonly #known = new Map<string, ReadonlySet<string>>()
  #position: Position
  #documentReadAt = Number.NEGATIVE_INFINITY

  private constructor(name: CopyName, options: CopyOptions, noted: Noted) {
    this.name = name
    this.#options = options
    this.#position = noted.position
    this.#tables = new Map()
    this.#take(noted)
  }

  /** The copy of this name as a reader sees it; undefined where there is none. */
  static async noted(name: CopyName, options: CopyOptions, at: StoreReader): Promise<Copy | undefined> {
    const noted = await notedOf(name, at)
    return noted && new Copy(name, options, noted)
  }

  /** A copy that holds nothing yet, of every kind that the key may read, noted in the place of one that was begun before. */
  static async begin(name: CopyName, options: CopyOptions, like?: Copy): Promise<Copy> {
    const { client, store, marksRemovals } = options
    const [{ id: organizationId }, start] = [await client.organization.get(), await endOf(client)]
    const declared = kindsOf(await client.document())
    const tables = new Map(like?.tables)
    const position: Position = {
      form: 1,
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
      const of = kindNamed(declared, kind)
      tables.set(kind, tableOf(of, tableName(name, of.plural), marksRemovals, tables.get(kind)))
    }
    const noted: Noted = { position, tables: [...tables].filter(([kind]) => kind in position.sums) }
    await store.write(async (tx) => {
      for (const [, table] of noted.tables) {
        await tx.drop(table)
        await tx.define(table)
      }
      await note(tx, name, noted)
    })
    return new Copy(name, options, noted)
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

  get isLoading(): boolean {
    return this.#position.loading !== null
  }

  /** The tables by kind. */
  get tables(): ReadonlyMap<string, Table> {
    return this.#tables
  }

  /** What its rows came to when they were written. */
  sumsOf(kind: string): Sums {
    return new Sums(this.#position.sums[kind])
  }

  /** Rows that were written, of all kinds. */
  get rows(): number {
    return Object.values(this.#position.sums).reduce((sum, { count }) => sum + count, 0)
  }

  /** The kinds that are not what the service says they are. */
  differing(checkpoints: Readonly<Record<string, Checkpoint>>): string[] {
    return Object.entries(checkpoints).flatMap(([kind, checkpoint]) =>
      this.sumsOf(kind).equals(checkpoint) ? [] : [kind],
    )
  }

  /** Reads what is noted by now: another process may have moved the copy. @throws CopyGone */
  async reload(): Promise<void> {
    // As a writer: a reader could wait for another to the end of a verification.
    const noted = await this.#options.store.write((tx) => notedOf(this.name, tx))
    if (noted === undefined) throw new CopyGone('The copy is gone from the store. Begin again.')
    this.#take(noted)
  }

  /** Makes the tables fit what the service declares today. */
  async refit(): Promise<void> {
    const { client, now } = this.#options
    this.#documentReadAt = now()
    await this.#widen(kindsOf(await client.document()))
  }

  /** Where the stream of all kinds that the key may read ends, if some of them are not kept. */
  async lacking(): Promise<Start | undefined> {
    const start = await endOf(this.#options.client)
    return start.kinds.every((kind) => kind in this.#position.sums) ? undefined : start
  }

  /** Begins to keep all kinds of a start, once the copy has taken in what came before it. Those that are new have to be loaded then. */
  async extend(start: Start): Promise<void> {
    const { client } = this.#options
    const { marksRemovals } = this.#position
    const declared = kindsOf(await client.document())
    const added = start.kinds.filter((kind) => !(kind in this.#position.sums))
    const asOf = await lastMoment(client, declared, added)
    await this.#write(async (tx) => {
      const tables = new Map(this.#tables)
      for (const kind of added) {
        const of = kindNamed(declared, kind)
        const table = tableOf(of, tableName(this.name, of.plural), marksRemovals)
        await tx.drop(table)
        await tx.define(table)
        tables.set(kind, table)
      }
      const { position } = this.#noted
      const sums = { ...position.sums, ...emptySums(added) }
      const loading = { asOf, kinds: allOf(added) }
      const after = { ...position, cursor: start.cursor, sums, loading, tables: position.tables + 1 }
      return { position: after, tables: [...tables] }
    })
  }

  /** Loads what is left to be loaded, and tells after each transaction how many rows there are. */
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
        for (const table of this.#tables.values()) await tx.index(table)
        return { ...this.#noted, position: { ...this.#position, loading: null } }
      })
    }
  }

  /**
   * An export is in the order of the stream, so that what has been loaded is what comes before a place. It is read up to `asOf`: what
   * is later changes a second time perhaps, and comes by the stream, where the cursor is not later than `asOf`. So each row
   * comes once, and is added without a look at what is there.
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
      isCurrent = await this.#write(async (tx) => {
        const { position, tables } = this.#noted
        const { loading } = position
        const table = this.#table(kind)
        const sums = this.sumsOf(kind)
        if (rows.length > 0) await tx.append(table, counted(table, rows, sums))
        const { [kind]: _, ...others } = loading?.kinds ?? {}
        const last = rows.at(-1)?.members as Place | undefined
        const place = last ? { updatedAt: last.updatedAt, id: last.id } : (loading?.kinds[kind] ?? null)
        const left = isEnd ? others : { [kind]: place, ...others }
        const moved = {
          ...position,
          sums: { ...position.sums, [kind]: sums.text },
          loading: { asOf, kinds: left },
        }
        return { tables, position: moved }
      })
      if (isCurrent && rows.length > 0) onRows(this.rows)
    }
    try {
      reading: for await (const texts of client
        .kind(plural)
        .export(signal ? { signal } : {})
        .texts()) {
        if (!isCurrent) break
        for (const text of texts) {
          const members = JSON.parse(text) as Place & Members & { removedAt?: string }
          if ((members.removedAt ?? members.updatedAt) > asOf) break reading
          if (members.object === 'removed' || (from !== null && !isAfter(members, from))) continue
          batch.push({ text, members })
          characters += text.length
        }
        if (characters >= charactersOfBatch) await flush(false)
      }
      await flush(true)
    } finally {
      await writing
    }
  }

  /**
   * Takes a page in that was asked for by a cursor. False, with nothing done, when the copy has moved on since: then the page
   * is another's.
   */
  async apply(from: string, page: SyncPage<AnyRow, unknown>): Promise<boolean> {
    const kinds = new Map<string, Map<string, Removal | ServedRow>>()
    for (const change of page.changes) {
      const [kind, id] =
        change.type === 'upsert' ? [change.row.object, change.row.id] : [change.resource, change.id]
      const changes = kinds.get(kind) ?? new Map()
      const members = change.type === 'upsert' ? (change.row as object) : undefined
      changes.set(id, members ? { text: JSON.stringify(members), members } : change)
      kinds.set(kind, changes)
    }
    for (const [kind, changes] of kinds) {
      await this.#learn(
        kind,
        [...changes.values()].flatMap((change) => ('text' in change ? [change] : [])),
      )
    }
    if (from !== this.cursor) return false
    return await this.#write(async (tx) => {
      const { position, tables } = this.#noted
      const sums: Record<string, SumsText> = { ...position.sums }
      for (const [kind, changes] of kinds) {
        const table = this.#table(kind)
        const rows = [...changes.values()].flatMap((change) =>
          'text' in change ? [storedRow(table, change.text, change.members)] : [],
        )
        const removals = [...changes.values()].flatMap((change) => ('text' in change ? [] : [change]))
        const after = this.sumsOf(kind)
        await this.#replaceRows(tx, table, after, rows, removals)
        sums[kind] = after.text
      }
      return { tables, position: { ...position, cursor: page.cursor, sums } }
    })
  }

  /**
   * Writes these rows as the service has them now, wherever the copy stands: a row may so be newer than the position, and comes again
   * by the stream. `error` is how far the sums are from what the rows were found to come to.
   */
  async mend(
    kind: string,
    ids: readonly string[],
    error: { readonly from: Sums; readonly to: Sums } | null,
    removedAt: string,
  ): Promise<void> {
    const table = this.#table(kind)
    const resource = this.#options.client.kind(this.#plural(kind))
    const work = async (tx: StoreWriter) => {
      // Asked for while nobody else writes: so nothing that is newer is ever written over.
      const served = ids.length === 0 ? [] : await resource.getMany(ids)
      const rows = served.map((row) => storedRow(table, JSON.stringify(row), { ...row }))
      const there = new Set(rows.map(({ id }) => id))
      const removals = ids.filter((id) => !there.has(id)).map((id) => ({ id, removedAt }))
      const { position, tables } = this.#noted
      const sums = this.sumsOf(kind)
      if (error) sums.shift(error)
      await this.#replaceRows(tx, table, sums, rows, removals)
      return { tables, position: { ...position, sums: { ...position.sums, [kind]: sums.text } } }
    }
    while (!(await this.#write(work)));
  }

  /**
   * Gives this copy the rows, the position and the tables of another, which is gone then. @throws CopyGone where another process has
   * moved that one or done this.
   */
  async replaceBy(other: Copy, removedAt: string): Promise<void> {
    const { store } = this.#options
    await store.write(async (tx) => {
      if ((await tx.note(other.name)) !== JSON.stringify(other.#position))
        throw new CopyGone('Another process has moved the new copy.')
      const tables: [string, Table][] = []
      for (const [kind, by] of other.#tables) {
        const table = { ...by, name: tableName(this.name, plain(by.name)) }
        await tx.define(table)
        await tx.replace(table, by, removedAt)
        await tx.index(table)
        await tx.drop(by)
        tables.push([kind, table])
      }
      await note(tx, this.name, { position: other.#position, tables })
      await note(tx, other.name, undefined)
    })
    await this.reload()
  }

  /** Takes the copy away. */
  async drop(): Promise<void> {
    await this.#options.store.write(async (tx) => {
      for (const table of this.#tables.values()) await tx.drop(table)
      await note(tx, this.name, undefined)
    })
  }

  async #replaceRows(
    tx: StoreWriter,
    table: Table,
    sums: Sums,
    rows: readonly StoredRow[],
    removals: readonly Removal[],
  ): Promise<void> {
    const ids = [...rows, ...removals].map(({ id }) => id)
    for (const { id, text } of await tx.get(table, ids))
      sums.count(id, updatedAtOf(membersOf(text)), text, -1)
    for (const { id, text } of rows) sums.count(id, updatedAtOf(membersOf(text)), text)
    if (rows.length > 0) await tx.put(table, rows)
    if (removals.length > 0) await tx.remove(table, removals)
  }

  /** Reads the service's document again when a row has a member without a column; what it declares by now becomes one. */
  async #learn(kind: string, rows: readonly { readonly members: Members }[]): Promise<void> {
    const known = this.#known.get(kind)
    const isKnown = ({ members }: { members: Members }) => {
      for (const field in members) if (known?.has(field) === false) return false
      return true
    }
    if (rows.every(isKnown)) return
    const { client, now } = this.#options
    if (now() - this.#documentReadAt < documentAge) return
    this.#documentReadAt = now()
    await this.#widen(kindsOf(await client.document()))
  }

  /** Adds the columns that are declared and not there, with the values of rows that have been there longer. */
  async #widen(declared: ReadonlyMap<string, Kind>): Promise<void> {
    const widened = [...this.#tables].flatMap(([kind, table]) => {
      const of = declared.get(kind)
      const wider = of && tableOf(of, table.name, table.marksRemovals, table)
      return wider && wider.columns.length > table.columns.length ? [[kind, wider] as const] : []
    })
    if (widened.length === 0) return
    const isCurrent = await this.#write(async (tx) => {
      for (const [kind, table] of widened) {
        const before = this.#table(kind).columns.length
        const fields = table.columns.slice(before).map(({ field }) => field)
        await tx.define(table)
        if (!this.isLoading) await tx.index(table)
        await fillIn(tx, table, fields)
      }
      const { position } = this.#noted
      const tables = new Map([...this.#tables, ...widened])
      return { position: { ...position, tables: position.tables + 1 }, tables: [...tables] }
    })
    // Whoever was first has done the same.
    if (!isCurrent) await this.reload()
  }

  /** A transaction that ends at the position that `work` answers; false, with nothing done, where another process has moved the copy. */
  async #write(work: (tx: StoreWriter) => Promise<Noted>): Promise<boolean> {
    const after = await this.#options.store.write(async (tx) => {
      if ((await tx.note(this.name)) !== JSON.stringify(this.#position)) return undefined
      const noted = await work(tx)
      await note(tx, this.name, noted, noted.position.tables !== this.#position.tables)
      return noted
    })
    if (after === undefined) await this.reload()
    else this.#take(after)
    return after !== undefined
  }

  get #noted(): Noted {
    return { position: this.#position, tables: [...this.#tables] }
  }

  #take({ position, tables }: Noted): void {
    this.#position = position
    this.#tables.clear()
    for (const [kind, table] of tables) {
      this.#tables.set(kind, table)
      this.#known.set(kind, new Set(['object', ...table.columns.map(({ field }) => field)]))
    }
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

/** Whether a store holds a copy that was begun. Opens it for that where something is there, and makes nothing. */
export async function hasCopy(store: Store): Promise<boolean> {
  if (!(await store.open({ creates: false }))) return false
  return await store.read(async (at) => (await notedOf('live', at)) !== undefined)
}

/** A place in the stream of several kinds. */
export interface Start {
  readonly cursor: string
  readonly kinds: readonly string[]
}

/** A copy is not there any more, or not as it was. */
export class CopyGone extends MirrorError {}

interface Noted {
  readonly position: Position
  readonly tables: readonly (readonly [kind: string, table: Table])[]
}

async function notedOf(name: CopyName, at: StoreReader): Promise<Noted | undefined> {
  const [position, tables] = [await at.note(name), await at.note(`${name} tables`)]
  if (position === undefined || tables === undefined) return undefined
  const parsed = JSON.parse(position) as Position
  if (parsed.form !== 1)
    throw new MirrorError('The store holds a copy of a later release of @deskwire/mirror. Update this one.')
  return { position: parsed, tables: JSON.parse(tables) }
}

async function note(
  tx: StoreWriter,
  name: CopyName,
  noted: Noted | undefined,
  withTables = true,
): Promise<void> {
  await tx.setNote(name, noted ? JSON.stringify(noted.position) : null)
  if (withTables) await tx.setNote(`${name} tables`, noted ? JSON.stringify(noted.tables) : null)
}

/** Rows as they are stored, each made and counted when it is taken. */
function* counted(table: Table, rows: readonly ServedRow[], sums: Sums): Generator<StoredRow> {
  for (const { text, members } of rows) {
    sums.count(members.id as string, updatedAtOf(members), text)
    yield storedRow(table, text, members)
  }
}

/** The end of the stream of all kinds that the key may read, and how many rows they have. */
export async function endOf(client: Client): Promise<Start & { readonly total: number }> {
  const { value: page } = await client.changes.sync({ updatedAfter: end, limit: 1 }).next()
  if (page?.checkpoint === undefined) throw new MirrorError('The service did not say which kinds there are.')
  return { cursor: page.cursor, kinds: Object.keys(page.checkpoint), total: page.total }
}

/** The moment of the organization's last commit: that of the digests of no ids at all, as all kinds have one order. */
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

const emptySums = (kinds: readonly string[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, new Sums().text]))

const allOf = (kinds: readonly string[]) => Object.fromEntries(kinds.map((kind) => [kind, null]))

const isAfter = (row: Place, place: Place) =>
  row.updatedAt > place.updatedAt || (row.updatedAt === place.updatedAt && row.id > place.id)

const suffix = '_next'
const tableName = (copy: CopyName, name: string) => (copy === 'next' ? `${name}${suffix}` : name)
const plain = (name: string) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : name)

/** Fills new columns from the texts of the rows that have a value for one. */
async function fillIn(tx: StoreWriter, table: Table, fields: readonly string[]): Promise<void> {
  const all = {
    after: '00000000-0000-0000-0000-000000000000',
    before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  }
  const ids: string[] = []
  for await (const piece of tx.rows(table, all)) {
    for (const { id, text } of piece) {
      const members = membersOf(text)
      if (members?.id === id && fields.some((field) => (members[field] ?? null) !== null)) ids.push(id)
    }
  }
  while (ids.length > 0) {
    const rows = await tx.get(table, ids.splice(0, 1_000))
    await tx.put(
      table,
      rows.map(({ text }) => storedRow(table, text, membersOf(text) ?? {})),
    )
  }
}
