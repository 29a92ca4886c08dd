/**
 * Moves what an export holds to another organization, and proves it there. A row is found there by its externalId, or
 * by its content where its kind has none, so a repetition sends what is missing alone, whatever interrupted the one
 * before.
 */
import { randomUUID } from 'node:crypto'
import type { BatchAnswer, Client } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { type Kind, kinds } from '@deskwire/service/kinds'
import { CommandFailure } from '../../failure.ts'
import { readIfThere, replaceFile } from '../../files.ts'
import { bulkOf } from '../../kinds.ts'
import { lineLayout } from '../columns.ts'
import { brokenRules } from '../entry.ts'
import { faultsText, faultText } from '../fault.ts'
import { openRejects, type Reject } from '../rejects.ts'
import { isolating } from '../send.ts'
import {
  contentOf,
  type ExportedRow,
  externalIdOf,
  hasExternalId,
  itemOf,
  originOf,
  referredBy,
  Sum,
  termOf,
  withNewIds,
} from './content.ts'
import type { ExportedKind, ExportedLine } from './exported.ts'

/** What became of the rows of a kind. */
export interface Transferred {
  readonly kind: Kind
  readonly rows: number
  readonly created: number
  readonly rejected: number
  /** The file of rejected lines; null where there are none. */
  readonly rejects: string | null
}

/** How the rows of a kind compare with those of the export. */
export interface Comparison {
  readonly kind: Kind
  readonly rows: number
  /** Those that are there, changed or not. */
  readonly found: number
  /** Over the content of the export's rows, and of those that are there. */
  readonly digest: string
  readonly foundDigest: string
  /** Lines of the export whose row is not there; those whose row is not the same. */
  readonly missing: readonly number[]
  readonly different: readonly number[]
  /** Rows that are there, and not in the export. */
  readonly others: number
}

interface TransferOptions {
  readonly client: Client
  /** Of the organization that it moves to. */
  readonly organizationId: string
  readonly signal: AbortSignal
  /** Rows done of this kind, and the latest rejected ones. */
  onProgress(kind: Kind, rows: number, rejects: readonly Reject[]): void
}

/** Bounds of a call, as of an import. */
const [callRows, callBytes] = [1_000, 12 * 1024 * 1024]

/** A row that is there already. */
interface There {
  readonly id: string
  readonly externalId: unknown
  readonly term: string
  /** By which a row without an externalId is found. */
  readonly likeness: string
  readonly origin: string
  readonly isActive: boolean
}

/** Of the content that a transfer does not change by itself. */
const likenessOf = (row: Readonly<Record<string, unknown>>) => termOf(contentOf({ ...row, active: null }))

export class Transfer {
  readonly #options: TransferOptions
  /** By kind, ids of the export with the ids there: of rows that others refer to, or that have no externalId. */
  readonly #ids = new Map<string, Map<string, string>>()
  /** Teammates to whom nothing can be assigned now. */
  readonly #inactive = new Set<string>()
  /** Those to make so at the end. */
  readonly #toDeactivate = new Set<string>()

  constructor(options: TransferOptions) {
    this.#options = options
  }

  /** Creates the rows of a kind that are not there. Kinds that it refers to come before. */
  async take(exported: ExportedKind): Promise<Transferred> {
    const { kind, path, count } = exported
    const { onProgress } = this.#options
    const ids = this.#idsOf(kind)
    const idThere = await this.#found(exported)
    const layout = lineLayout(kind, [], true)
    await using file = await openRejects(path, { layout, delimiter: ',', kept: null })
    let [rows, created, rejected, bytes] = [0, 0, 0, 0]
    let rejects: string | null = null
    let waiting: { readonly from: ExportedLine; readonly item: object }[] = []
    const reject = async (rejectedLines: readonly Reject[]) => {
      rejected += rejectedLines.length
      rejects = (await file.append(rejectedLines))?.path ?? null
      onProgress(kind, rows, rejectedLines)
    }
    const send = async () => {
      const sent = waiting
      waiting = []
      bytes = 0
      if (sent.length === 0) return
      const { data, created: made } = await this.#post(
        kind,
        sent.map(({ item }) => item),
      )
      created += made
      const refused = sent.flatMap(({ from }, n): Reject[] => {
        const outcome = data[n]
        if (outcome === undefined || outcome.outcome === 'refused')
          return [rejectOf(from, outcome === undefined ? 'no outcome' : faultText(outcome.problem))]
        ids?.set(from.row.id, outcome.id)
        if (from.row.active === false) this.#inactive.add(outcome.id)
        return []
      })
      await reject(refused)
    }
    for await (const from of exported.rows()) {
      const { row } = from
      rows++
      const there = idThere(row)
      if (there !== undefined) {
        ids?.set(row.id, there)
        continue
      }
      const lost = referredBy(kind, row).find(
        ({ kind: to, id }) => isSent(kind, to) && !this.#idsOfName(to)?.has(id),
      )
      if (lost !== undefined) {
        await reject([rejectOf(from, `${lost.field}: the ${lost.kind} ${lost.id} was not imported`)])
        continue
      }
      await this.#activate(kind, row)
      const item = itemOf(kind, row, this.#newIdOf)
      waiting.push({ from, item })
      bytes += Buffer.byteLength(from.text)
      if (waiting.length >= callRows || bytes >= callBytes) await send()
    }
    await send()
    onProgress(kind, rows, [])
    if (isReferredTo(kind) && !hasExternalId(kind)) await this.#noteAlike(exported)
    return { kind, rows: count, created, rejected, rejects }
  }

  /** Makes teammates inactive that are so in the export. */
  async finish(): Promise<void> {
    const { client, signal } = this.#options
    for (const id of this.#toDeactivate)
      if (!this.#inactive.has(id)) await client.teammates.update(id, { active: false }, { signal })
  }

  /** Compares what is there with the export. */
  async compare(exported: ExportedKind): Promise<Comparison> {
    const { kind } = exported
    const expected = new Map<string, { readonly line: number; readonly term: string }>()
    const [sum, found] = [new Sum(), new Sum()]
    const oldIds = new Map([...(this.#idsOf(kind) ?? [])].map(([id, newId]) => [newId, id]))
    const isKeyed = hasExternalId(kind)
    for await (const { line, row } of exported.rows()) {
      const content = contentOf(withNewIds(kind, row, this.#newIdOf))
      sum.take(content)
      expected.set(isKeyed ? externalIdOf(row) : row.id, { line, term: termOf(content) })
    }
    let others = 0
    const different: number[] = []
    const missing = new Map([...expected].map(([key, { line }]) => [key, line]))
    for (const { id, externalId, term } of await this.#there(kind)) {
      const key = isKeyed ? externalId : (oldIds.get(id) ?? null)
      const one = typeof key === 'string' ? expected.get(key) : undefined
      if (typeof key !== 'string' || one === undefined) {
        others++
        continue
      }
      missing.delete(key)
      found.takeTerm(term)
      if (one.term !== term) different.push(one.line)
    }
    return {
      kind,
      rows: sum.count,
      found: found.count,
      digest: sum.digest,
      foundDigest: found.digest,
      missing: [...missing.values()],
      different: different.sort((a, b) => a - b),
      others,
    }
  }

  /** The ids of a kind to keep; undefined for one that nothing asks for. */
  #idsOf(kind: Kind): Map<string, string> | undefined {
    if (!isReferredTo(kind) && hasExternalId(kind)) return undefined
    const ids = this.#ids.get(kind.name) ?? new Map<string, string>()
    this.#ids.set(kind.name, ids)
    return ids
  }

  #idsOfName(name: string): ReadonlyMap<string, string> | undefined {
    return this.#ids.get(name)
  }

  #newIdOf = (kind: string, id: string): string | undefined => this.#ids.get(kind)?.get(id)

  /** Rows that are there, in their last version. */
  async #there(kind: Kind): Promise<Iterable<There>> {
    const { client, signal } = this.#options
    const rows = new Map<string, There>()
    for await (const change of bulkOf(client, kind).export({ signal })) {
      if (change.type === 'removed') {
        rows.delete(change.id)
        continue
      }
      const row: ExportedRow = { ...change.row }
      const { id, externalId = null } = row
      const isKeyed = hasExternalId(kind)
      rows.set(id, {
        id,
        externalId,
        term: termOf(contentOf(row)),
        likeness: isKeyed ? '' : likenessOf(row),
        origin: isKeyed ? '' : originOf(kind, row),
        isActive: row.active !== false,
      })
    }
    return rows.values()
  }

  /** The id there of a row of the export. */
  async #found(exported: ExportedKind): Promise<(row: ExportedRow) => string | undefined> {
    const { kind } = exported
    const there = [...(await this.#there(kind))]
    for (const { id, isActive } of there) if (!isActive) this.#inactive.add(id)
    if (hasExternalId(kind)) {
      const ids = new Map(there.map(({ id, externalId }) => [externalId, id]))
      return (row) => ids.get(externalIdOf(row))
    }
    const noted = isReferredTo(kind) ? await loadIds(exported.path, this.#options.organizationId) : []
    const isThere = new Set(there.map(({ id }) => id))
    const pairs = new Map(noted.filter(([, newId]) => isThere.has(newId)))
    // The same content first: what was changed on one side is found by what never changes.
    for (const by of ['likeness', 'origin'] as const) {
      const taken = new Set(pairs.values())
      const left = Map.groupBy(
        there.filter(({ id }) => !taken.has(id)),
        (one) => one[by],
      )
      if (left.size === 0) break
      for await (const { row } of exported.rows()) {
        if (pairs.has(row.id)) continue
        const mapped = withNewIds(kind, row, this.#newIdOf)
        const one = left.get(by === 'likeness' ? likenessOf(mapped) : originOf(kind, mapped))?.shift()
        if (one !== undefined) pairs.set(row.id, one.id)
      }
    }
    return ({ id }) => pairs.get(id)
  }

  #post(kind: Kind, items: readonly object[]): Promise<BatchAnswer> {
    const { client, signal } = this.#options
    const bulk = bulkOf(client, kind)
    const post = (some: readonly object[], idempotencyKey: string) =>
      bulk.import(some, { idempotencyKey, signal })
    return isolating(post, items, randomUUID())
  }

  /** Nothing can be assigned to an inactive teammate: until the end, it is active. */
  async #activate(kind: Kind, row: ExportedRow): Promise<void> {
    const { client, signal } = this.#options
    for (const { kind: to, id, needsActive } of referredBy(kind, row)) {
      const newId = this.#newIdOf(to, id)
      if (!needsActive || newId === undefined || !this.#inactive.delete(newId)) continue
      this.#toDeactivate.add(newId)
      await client.teammates.update(newId, { active: true }, { signal })
    }
  }

  /** Teammates: those to deactivate, and their ids where some are alike and others refer to them. */
  async #noteAlike({ kind, path, rows }: ExportedKind): Promise<void> {
    const ids = this.#idsOf(kind) ?? new Map<string, string>()
    const known = new Set<string>()
    let isAmbiguous = false
    for await (const { row } of rows()) {
      const newId = ids.get(row.id)
      if (row.active === false && newId !== undefined) this.#toDeactivate.add(newId)
      const likeness = likenessOf(row)
      isAmbiguous ||= known.has(likeness)
      known.add(likeness)
    }
    if (isAmbiguous) await saveIds(path, this.#options.organizationId, ids)
  }
}

function isReferredTo({ name }: Kind): boolean {
  return kinds.some(({ table }) => table.references.some(({ kind }) => kind === name))
}

/**
 * Whether a row of a kind is sent with its reference to another: a message takes its customer from its conversation.
 */
function isSent(kind: Kind, to: string): boolean {
  return kind.table.references.some(({ kind: one, field }) => {
    const access = kind.fields[field]?.access
    return one === to && access !== 'read'
  })
}

function rejectOf({ line, text }: ExportedLine, error: string): Reject {
  return { line, cells: [text], error }
}

/**
 * Where ids are kept by which alike teammates are told apart: by organization, those of the export with those there.
 */
const idsPath = (path: string) => `${path}.ids.json`

type NotedIds = Readonly<Record<string, readonly (readonly [id: string, newId: string])[]>>

async function readIds(path: string): Promise<NotedIds> {
  const text = await readIfThere(idsPath(path))
  if (text === null) return {}
  try {
    return readJson<NotedIds>(text)
  } catch {
    throw new CommandFailure(`${idsPath(path)} cannot be read: move it away`)
  }
}

async function loadIds(path: string, organizationId: string) {
  return (await readIds(path))[organizationId] ?? []
}

async function saveIds(
  path: string,
  organizationId: string,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  await replaceFile(
    idsPath(path),
    `${JSON.stringify({ ...(await readIds(path)), [organizationId]: [...ids] })}\n`,
  )
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/** What would be refused of the rows of a kind, as far as that does not depend on others. */
export async function rehearse(
  { kind, rows }: ExportedKind,
  onProgress: TransferOptions['onProgress'],
): Promise<number> {
  const layout = lineLayout(kind, [], true)
  let [done, rejected] = [0, 0]
  for await (const from of rows()) {
    done++
    const fault = faultsText(
      brokenRules(
        layout,
        itemOf(kind, from.row, () => nilUuid),
        true,
      ),
    )
    if (fault !== '') rejected++
    if (fault !== '' || done % callRows === 0)
      onProgress(kind, done, fault === '' ? [] : [rejectOf(from, fault)])
  }
  return rejected
}

/** The organization of the key. @throws CommandFailure where the export is of it. */
export async function requireAnother(client: Client, exported: readonly ExportedKind[]): Promise<string> {
  const { id } = await client.organization.get()
  if (exported.some(({ organizationId }) => organizationId === id))
    throw new CommandFailure(
      `the export is of the organization ${id}, to which the key belongs: give the key of another one`,
    )
  return id
}
