/**
 * Changing an object that others change too, with `If-Match`. When another version exists, the change is made to it
 * unless both have changed the same field: then the user decides.
 */
import { ApiProblem } from './problem.ts'

export interface Versioned {
  readonly id: string
  readonly updatedAt: string
}

export type Patch = Readonly<Record<string, unknown>>

export type Changed<T> =
  | { readonly outcome: 'changed'; readonly row: T }
  | {
      readonly outcome: 'conflict'
      /** The current version. */
      readonly theirs: T
      /** Fields that both have changed, to different values. */
      readonly fields: readonly string[]
    }

interface ChangeOf<T extends Versioned> {
  /** The version that the user saw. */
  readonly base: T
  readonly patch: Patch
  readonly read: () => Promise<T>
  readonly write: (patch: Patch, ifMatch: string) => Promise<T>
  /** False: the API takes no `If-Match` for it, so the current version is read just before. */
  readonly isTagged?: boolean
}

/** Each lost attempt means that another change came in between. */
const maxAttempts = 5

/** The entity tag of a version (specification 13.2). */
export function tagOf({ updatedAt }: Versioned): string {
  return `"${updatedAt}"`
}

/** Makes the change, or returns the conflict. Throws other refusals. */
export async function change<T extends Versioned>({
  base,
  patch,
  read,
  write,
  isTagged = true,
}: ChangeOf<T>): Promise<Changed<T>> {
  let known = isTagged ? base : await read()
  for (let tried = 1; ; tried++) {
    const fields = conflicts(base, patch, known)
    if (fields.length > 0) return { outcome: 'conflict', theirs: known, fields }
    try {
      return { outcome: 'changed', row: await write(patch, tagOf(known)) }
    } catch (error) {
      const isLost = error instanceof ApiProblem && error.status === 412
      if (!isLost || tried === maxAttempts) throw error
    }
    known = await read()
  }
}

/** The fields that both `patch` and somebody else have changed since `base`, to different values. */
export function conflicts(base: object, patch: Patch, theirs: object): readonly string[] {
  return Object.entries(patch).flatMap(([name, mine]) => {
    const was = own(base, name)
    const is = own(theirs, name)
    // A patch of named values has only those that change.
    const isPart = name === 'customAttributes' && isObject(mine) && isObject(was) && isObject(is)
    const isLost = isPart
      ? conflicts(was, mine, is).length > 0
      : !isSame(is ?? null, was ?? null) && !isSame(is ?? null, mine ?? null)
    return isLost ? [name] : []
  })
}

/** Named values may have names that every object has: `constructor`. */
function own(of: object, name: string): unknown {
  return Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined
}

function isObject(value: unknown): value is Patch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** The fields of `after` that differ from those of `before`. */
export function changedFields<T extends object>(before: Partial<T>, after: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(value, own(before, name))),
  ) as Partial<T>
}
