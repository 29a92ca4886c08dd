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
import { type Problem, problem } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { mapYielding } from '../../kernel/yielding.ts'
import type { DeskReader, Effects, Kind, Moved, Read, State } from './kind.ts'
import { insertChange, type NewObject, parseRepresentation, updateChange } from './representation.ts'

export type Rows = (kind: Kind) => RowReader

/** Objects that move, planned at once. */
const movedAtOnce = 10
const mebibyte = 1024 * 1024
/** Of the stored bodies of all objects that one call changes: few bytes can name objects of 256 KiB. */
export const changedCharacters = 16 * mebibyte

export const tooMuchToChange = problem(
  'body_too_large',
  `The objects that the items of this call change have more than ${changedCharacters / mebibyte} MiB together. Send this item in another call.`,
)

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
  const { completed, moved } = await planEffects(kind.effects, drafts, desk)
  let record = idempotency
  const changes = await mapYielding(drafts, (draft) => {
    const state = completed.get(draft) ?? ok(draft.state)
    if (!state.ok) return state
    const object = { state: state.value, createdAt: draft.createdAt }
    const change = insertChange(kind, organizationId, object, clock, record)
    record = null
    return ok(change)
  })
  return { changes, rest: await desk.unit(moved, clock) }
}

/** Plans a few moved objects at a time. Once they have too many characters, the drafts that move others are refused. */
async function planEffects(
  effects: Effects<State> | null,
  drafts: readonly NewObject[],
  desk: RecordingReader,
) {
  const completed = new Map<NewObject, Result<State, Problem>>()
  const moved: Moved[] = []
  if (effects === null) return { completed, moved }
  const isImport = drafts.some(({ createdAt }) => createdAt !== null)
  const groups = [...Map.groupBy(drafts, ({ state }) => effects.queuedBehind(state)).values()]
  for (let from = 0; from < groups.length; from += movedAtOnce) {
    const some = groups.slice(from, from + movedAtOnce).flat()
    if (desk.characters() > changedCharacters) {
      for (const draft of some) completed.set(draft, fail(tooMuchToChange))
      continue
    }
    const states = some.map(({ state }) => state)
    const plan = await effects.plan(states, desk, isImport)
    for (const [n, state] of plan.drafts.entries()) completed.set(some[n] as NewObject, state)
    moved.push(...plan.moved)
  }
  return { completed, moved }
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
  /** Of all bodies that were read. */
  characters(): number
  /** The changes of moved objects, and an expectation for everything else that was read. */
  unit(moved: readonly Moved[], clock: Clock): Promise<Required<Omit<Unit, 'span' | keyof RequestContext>>>
}

function recordingReader(rows: Rows, organizationId: string): RecordingReader {
  const read = new Map<string, { readonly kind: Kind; readonly row: StoredRow }>()
  const referring: ReferringExpectation[] = []
  let characters = 0

  function remember<S>(kind: Kind, row: StoredRow): Read<S> {
    const { id, state } = parseRepresentation(kind, row)
    read.set(id, { kind, row })
    characters += row.body.length
    return { id, state: state as S }
  }

  return {
    async byId<S>(kind: Kind, ids: readonly string[]) {
      const found = await Promise.all([...new Set(ids)].map((id) => rows(kind).read(organizationId, id)))
      const objects = found.filter((row) => row !== null).map((row) => remember<S>(kind, row))
      return new Map(objects.map((object) => [object.id, object]))
    },
    characters: () => characters,
    async changeable<S>(kind: Kind, field: string, ids: readonly string[]) {
      const reference = kind.table.references.find((one) => one.field === field)
      if (reference === undefined) throw new Error(`${kind.name}.${field} is not a reference`)
      const column = reference.column.name
      const distinct = [...new Set(ids)]
      const found = await rows(kind).changeable(organizationId, reference, distinct)
      const stampsOf = Map.groupBy(found, (row) => row.target)
      for (const id of distinct) {
        const stamps = (stampsOf.get(id) ?? []).map((row) => row.updatedAt)
        const latest = stamps.toSorted().at(-1) ?? null
        referring.push({ table: kind.table, column, id, count: stamps.length, latest })
      }
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
