/**
 * The state of a copy, as `deskwire mirror status`, the table `_deskwire_status` and metrics show it. It needs no
 * service.
 */
import { readJson } from '@deskwire/sdk/json'
import { type Noted, notedOf } from './copy.ts'
import { MirrorError } from './error.ts'
import { makeOwn, replaceOwn, statusNote, statusTable } from './own-table.ts'
import { derivedId, storedRow } from './row.ts'
import type { Selection } from './select.ts'
import type { Store, StoreReader, Table } from './store.ts'

export interface KindStatus {
  /** `ticket`. */
  readonly kind: string
  readonly rows: number
  /** The time of the last change that the copy holds; null before the first. */
  readonly lastChangeAt: string | null
  /** When the copy last matched the service's checkpoint. */
  readonly caughtUpAt: string | null
  /** When `verify` last compared this kind, and whether nothing differed. */
  readonly verifiedAt: string | null
  readonly exact: boolean | null
}

export interface MirrorStatus {
  readonly organizationId: string
  readonly isLoading: boolean
  /** Seconds since the copy last matched the service's checkpoint; null before the first time. */
  readonly lagSeconds: number | null
  readonly quarantined: number
  /** What the copy keeps of the desk; null for all. */
  readonly selection: Selection | null
  readonly kinds: readonly KindStatus[]
}

interface Seen {
  readonly caughtUpAt?: string
  readonly verifiedAt?: string
  /** Kinds of which `verify` found rows that differ or are quarantined. */
  readonly differing?: readonly string[]
  /** Kinds that `verify` compared. */
  readonly compared?: readonly string[]
}

/** The state of the copy in a store; undefined without a copy. Opens the store, and creates nothing. */
export async function statusOf(store: Store, now = Date.now()): Promise<MirrorStatus | undefined> {
  if (!(await store.open({ creates: false }))) return undefined
  return store.read(async (at) => {
    const noted = await notedOf('live', at)
    if (noted === undefined) return undefined
    const { organizationId, loading, quarantined = 0 } = noted.position
    const seen = await seenIn(at)
    const lagSeconds = seen.caughtUpAt ? Math.max(0, (now - Date.parse(seen.caughtUpAt)) / 1_000) : null
    return {
      organizationId,
      isLoading: loading !== null,
      lagSeconds,
      quarantined,
      selection: noted.position.selection ?? null,
      kinds: kindsOf(noted, seen),
    }
  })
}

/** The tables of the copy in an open store, without the mirror's own. @throws MirrorError without a copy. */
export function tablesOf(store: Store): Promise<readonly Table[]> {
  return store.read(async (at) => {
    const noted = await notedOf('live', at)
    if (noted === undefined) throw new MirrorError('There is no copy in the store.')
    return noted.tables.map(([, table]) => table)
  })
}

/** Notes what was seen, and writes the table. @throws NameTaken when the table is not the mirror's. */
export async function recordStatus(store: Store, seen: Seen): Promise<void> {
  await store.write(async (tx) => {
    const noted = await notedOf('live', tx)
    if (noted === undefined) return
    const before = await tx.note(statusNote)
    await makeOwn(tx, statusTable, before !== undefined)
    const now = { ...(before === undefined ? {} : (readJson(before) as Seen)), ...seen }
    const kinds = kindsOf(noted, now)
    const rows = kinds.map((of) => {
      const members = { id: derivedId(of.kind), ...of }
      return storedRow(statusTable, JSON.stringify(members), members)
    })
    await replaceOwn(tx, statusTable, rows)
    await tx.setNote(statusNote, JSON.stringify(now))
  })
}

async function seenIn(at: StoreReader): Promise<Seen> {
  return readJson((await at.note(statusNote)) ?? '{}') as Seen
}

function kindsOf({ position }: Noted, seen: Seen): KindStatus[] {
  return Object.entries(position.sums).map(([kind, { count }]) => {
    const isCompared = seen.compared?.includes(kind) === true
    return {
      kind,
      rows: count,
      lastChangeAt: position.last?.[kind] ?? null,
      caughtUpAt: seen.caughtUpAt ?? null,
      verifiedAt: isCompared ? (seen.verifiedAt ?? null) : null,
      exact: isCompared ? !seen.differing?.includes(kind) : null,
    }
  })
}
