/** The unit that creates objects and changes others with them. It commits only if no row that was read has changed. */
import type {
  Change,
  ReferringExpectation,
  RequestContext,
  ResponseToStore,
  RowExpectation,
  Unit,
} from '../../journal/change.ts'
import type { RowReader, StoredRow } from '../../journal/rows.ts'
import type { Problem } from '../../kernel/errors.ts'
import { ok, type Result } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { mapYielding } from '../../kernel/yielding.ts'
import type { DeskReader, Kind, Moved, Read } from './kind.ts'
import { insertChange, type NewObject, parseRepresentation, updateChange } from './representation.ts'

export type Rows = (kind: Kind) => RowReader

interface PlannedInserts {
  /** In the order of the drafts: the change that creates each, or its refusal. */
  readonly changes: readonly Result<Change, Problem>[]
  readonly rest: Required<Omit<Unit, 'span' | keyof RequestContext>>
}

/** Decides on new objects of a kind, all or none of an import. The first has the response to store. */
export async function planInserts(
  { kind, rows, clock }: { readonly kind: Kind; readonly rows: Rows; readonly clock: Clock },
  organizationId: string,
  drafts: readonly NewObject[],
  idempotency: ResponseToStore | null,
): Promise<PlannedInserts> {
  const desk = recordingReader(rows, organizationId)
  const isImport = drafts.some(({ createdAt }) => createdAt !== null)
  const states = drafts.map(({ state }) => state)
  const plan = kind.effects === null ? null : await kind.effects.plan(states, desk, isImport)
  const completed = plan?.drafts ?? states.map(ok)
  let record = idempotency
  const changes = await mapYielding(completed, (state, n) => {
    if (!state.ok) return state
    const createdAt = drafts[n]?.createdAt ?? null
    const change = insertChange(kind, organizationId, { state: state.value, createdAt }, clock, record)
    record = null
    return ok(change)
  })
  return { changes, rest: await desk.unit(plan?.moved ?? [], clock) }
}

/** What else commits with the removal of an object. */
export async function planRemoval(
  { kind, rows, clock }: { readonly kind: Kind; readonly rows: Rows; readonly clock: Clock },
  organizationId: string,
  row: StoredRow,
): Promise<Partial<Unit>> {
  if (kind.effects?.removed === undefined) return {}
  const desk = recordingReader(rows, organizationId)
  const { state } = parseRepresentation(kind, row)
  return desk.unit(await kind.effects.removed(state, desk), clock)
}

interface RecordingReader extends DeskReader {
  /** The changes of moved objects, and an expectation for everything else that was read. */
  unit(moved: readonly Moved[], clock: Clock): Promise<Required<Omit<Unit, 'span' | keyof RequestContext>>>
}

function recordingReader(rows: Rows, organizationId: string): RecordingReader {
  const read = new Map<string, { readonly kind: Kind; readonly row: StoredRow }>()
  const referring: ReferringExpectation[] = []

  function remember<S>(kind: Kind, row: StoredRow): Read<S> {
    const { id, state } = parseRepresentation(kind, row)
    read.set(id, { kind, row })
    return { id, state: state as S }
  }

  return {
    async byId<S>(kind: Kind, ids: readonly string[]) {
      const found = await Promise.all([...new Set(ids)].map((id) => rows(kind).read(organizationId, id)))
      const objects = found.filter((row) => row !== null).map((row) => remember<S>(kind, row))
      return new Map(objects.map((object) => [object.id, object]))
    },
    async referring<S>(kind: Kind, field: string, ids: readonly string[]) {
      const reference = kind.table.references.find((one) => one.field === field)
      if (reference === undefined) throw new Error(`${kind.name}.${field} is not a reference`)
      const column = reference.column.name
      const distinct = [...new Set(ids)]
      const found = await rows(kind).referring(organizationId, column, distinct)
      const stampsOf = Map.groupBy(found, (row) => row.target)
      for (const id of distinct) {
        const stamps = (stampsOf.get(id) ?? []).map((row) => row.updatedAt)
        const latest = stamps.toSorted().at(-1) ?? null
        referring.push({ table: kind.table, column, id, count: stamps.length, latest })
      }
      // A conversation can have many tickets, each with its text.
      return mapYielding(found, (row) => remember<S>(kind, row))
    },
    async unit(moved, clock) {
      const changes: Change[] = []
      const expected: RowExpectation[] = []
      const after = new Map(moved.map((one) => [one.id, one.after]))
      await mapYielding(read, ([id, { kind, row }]) => {
        const state = after.get(id)
        const change = state === undefined ? null : updateChange(kind, clock, row, state, null)
        if (change !== null) changes.push(change)
        else expected.push({ table: kind.table, id, expected: row.updatedAt })
      })
      return { changes, rows: expected, referring }
    },
  }
}
