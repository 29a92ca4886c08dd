/**
 * An object's one representation: made when its row is written, stored, and sent as it is by every reader. Its end is the
 * commit's (`journal/body.ts`), so it is made here only up to there.
 */
import { bodyHead } from '../journal/body.ts'
import type { Kind, State } from './kind.ts'

export interface Identity {
  readonly id: string
  readonly organizationId: string
  readonly createdAt: string
}

export interface StoredObject extends Identity {
  readonly state: State
  readonly updatedAt: string
}

/** The head of the representation. */
export function representationHead(kind: Kind, identity: Identity, state: State, isNew: boolean): string {
  const { id, organizationId, createdAt } = identity
  const shown: Record<string, unknown> = { id, object: kind.name, organizationId, createdAt }
  for (const name of kind.representationOrder) {
    if (isNew && kind.fields[name]?.sequence) continue
    shown[name] = state[name]
  }
  return bodyHead(shown)
}

/** The object that a stored body shows. */
export function parseRepresentation(kind: Kind, body: string): StoredObject {
  const shown = JSON.parse(body) as Record<string, unknown> & Identity & { updatedAt: string }
  const state = Object.fromEntries(kind.fieldNames.map((name) => [name, shown[name]]))
  const { id, organizationId, createdAt, updatedAt } = shown
  return { id, organizationId, createdAt, updatedAt, state }
}

/** The values of the row's own columns, from the same state as the body. */
export function columnValues(kind: Kind, state: State): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.column === null || field.sequence) continue
    values[field.column.name] = field.stored === undefined ? state[name] : field.stored(state[name])
  }
  return values
}
