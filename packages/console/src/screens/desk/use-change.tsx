/**
 * A change of an object, made to the version that the user saw. Another version that changed the same fields is a
 * conflict, and the user decides; an object that was removed is shown as removed.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { change, type Patch } from '../../api/change.ts'
import { keys } from '../../api/keys.ts'
import { markRemoved } from '../../api/live.ts'
import { isOfRemoved } from '../../api/problem.ts'
import { sayProblem } from '../../design/toasts.tsx'
import { type Conflict, ConflictDialog } from './conflict.tsx'
import { type Editable, type ObjectOf, readOne, writeOne } from './objects.ts'

interface ChangeOf<T> {
  /** The version that the user saw. */
  readonly base: T
  /** The fields that change, and their values. */
  readonly patch: Patch
  /** Of an action, which is made as a whole or not at all. Default: the fields are changed. */
  readonly action?: {
    readonly verb: string
    readonly write: (ifMatch: string) => Promise<T>
    readonly isAllowed?: (row: T) => boolean
  }
  /** Once it is made. */
  readonly done?: ((row: T) => unknown) | undefined
}

/**
 * `save` throws refusals, for a form; `put` shows them. Both show `dialog` for a conflict; `isAsking` while they do.
 */
export function useChange<K extends Editable>(
  kind: K,
  /** When the user chose to keep the other version. */
  keepTheirs: () => void = () => {},
): {
  readonly save: (change: ChangeOf<ObjectOf<K>>) => Promise<void>
  readonly put: (change: ChangeOf<ObjectOf<K>>) => Promise<void>
  readonly isBusy: boolean
  readonly isAsking: boolean
  readonly dialog: ReactNode
} {
  const client = useQueryClient()
  const [lost, setLost] = useState<(ChangeOf<ObjectOf<K>> & Conflict<ObjectOf<K>>) | null>(null)
  const [isBusy, setBusy] = useState(false)
  async function save(wanted: ChangeOf<ObjectOf<K>>): Promise<void> {
    const { base, patch, action, done } = wanted
    const { id } = base
    setBusy(true)
    try {
      const made =
        Object.keys(patch).length === 0
          ? { outcome: 'changed' as const, row: base }
          : await change({
              base,
              patch,
              read: () => readOne(kind, id),
              write: (left, ifMatch) => action?.write(ifMatch) ?? writeOne(kind, id, left, ifMatch),
            })
      client.setQueryData(keys.one(kind, id), made.outcome === 'changed' ? made.row : made.theirs)
      setLost(made.outcome === 'changed' ? null : { ...wanted, ...made })
      await client.invalidateQueries({ queryKey: keys.all(kind) })
      if (made.outcome === 'changed') await done?.(made.row)
    } catch (error) {
      if (isOfRemoved(error)) markRemoved(client, kind, id)
      throw error
    } finally {
      setBusy(false)
    }
  }
  return {
    save,
    put: async (wanted) => {
      try {
        await save(wanted)
      } catch (error) {
        sayProblem('Not saved', error)
        await client.invalidateQueries({ queryKey: keys.all(kind) })
      }
    },
    isBusy,
    isAsking: lost !== null,
    dialog: lost !== null && (
      <ConflictDialog
        key={lost.theirs.updatedAt}
        conflict={lost}
        {...(lost.action && {
          verb: lost.action.verb,
          isPossible: lost.action.isAllowed?.(lost.theirs) ?? true,
        })}
        close={() => {
          setLost(null)
          keepTheirs()
        }}
        save={(patch) => save({ ...lost, base: lost.theirs, patch })}
      />
    ),
  }
}
