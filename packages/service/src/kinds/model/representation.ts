/** The representation of an object: made when its row is written, and sent unchanged by every reader. */
import { readJson } from '@deskwire/sdk/json'
import { bodyHead } from '../../journal/body.ts'
import { NewerVersion, type StoredRow } from '../../journal/rows.ts'
import type { Kind, State } from './kind.ts'

export interface Identity {
  readonly id: string
  readonly organizationId: string
  readonly createdAt: string
}

interface StoredObject extends Identity {
  readonly state: State
  readonly updatedAt: string
}

export function representationHead(kind: Kind, identity: Identity, state: State, isNew: boolean): string {
  const { id, organizationId, createdAt } = identity
  const shown: Record<string, unknown> = { id, object: kind.name, organizationId, createdAt }
  for (const name of kind.representationOrder) {
    if (isNew && kind.fields[name]?.sequence) continue
    shown[name] = state[name]
  }
  return bodyHead(shown)
}

export type StoredBody = Pick<StoredRow, 'body' | 'version'>

type Shown = Record<string, unknown> & Identity & { readonly updatedAt: string }

/**
 * Upgrades a body of an earlier version.
 * @throws NewerVersion when a later version dropped or renamed a field that this one has.
 */
export function parseRepresentation(kind: Kind, { body, version }: StoredBody): StoredObject {
  const shown = readJson(body) as Shown
  const { id, organizationId, createdAt, updatedAt } = shown
  const members = version === kind.table.version ? shown : otherVersion(kind, shown, version)
  const state = Object.fromEntries(kind.fieldNames.map((name) => [name, members[name]]))
  return { id, organizationId, createdAt, updatedAt, state }
}

/** A body of another version has at least the members of this one. */
function otherVersion(kind: Kind, shown: State, version: number): State {
  const members = kind.upgrades.slice(version - 1).reduce((state, upgrade) => upgrade(state), shown)
  const missing = kind.fieldNames.find((name) => members[name] === undefined)
  if (missing === undefined) return members
  if (version > kind.table.version)
    throw new NewerVersion(
      `a ${kind.name} of version ${version} has no ${missing}, and this release has version ${kind.table.version}`,
    )
  throw new Error(`the upgrades of a ${kind.name} of version ${version} give it no ${missing}`)
}

/** The head of a stored object in another state. Members of a later version of the kind stay. */
export function changedHead(kind: Kind, row: StoredBody, before: Identity, state: State): string {
  if (row.version <= kind.table.version) return representationHead(kind, before, state, false)
  const { updatedAt: _, ...shown } = readJson(row.body) as Shown
  const own = Object.fromEntries(kind.fieldNames.map((name) => [name, state[name]]))
  return bodyHead({ ...shown, ...own })
}

/** From the same state as the body. */
export function columnValues(kind: Kind, state: State): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.column === null || field.sequence) continue
    values[field.column.name] = field.stored === undefined ? state[name] : field.stored(state[name])
  }
  return values
}
