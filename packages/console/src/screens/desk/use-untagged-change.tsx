/** A change of an object for which the API takes no `If-Match`: the current version is read just before. */
import { type ReactNode, useState } from 'react'
import { change, type Patch, type Versioned } from '../../api/change.ts'
import { type Conflict, ConflictDialog } from './conflict.tsx'

interface Untagged<T extends Versioned> {
  readonly read: (id: string) => Promise<T>
  readonly write: (id: string, patch: Patch) => Promise<T>
  /** Once it is made, or there was nothing to change. */
  readonly done: () => Promise<unknown>
  /** When the user chose to keep the other version. */
  readonly close: () => void
}

/** `save` throws refusals, for a form, which is replaced by `dialog` while both have changed the same field. */
export function useUntaggedChange<T extends Versioned>({
  read,
  write,
  done,
  close,
}: Untagged<T>): {
  readonly save: (base: T, patch: Patch) => Promise<void>
  readonly dialog: ReactNode
} {
  const [conflict, setConflict] = useState<Conflict<T> | null>(null)
  async function save(base: T, patch: Patch): Promise<void> {
    if (Object.keys(patch).length > 0) {
      const made = await change({
        base,
        patch,
        read: () => read(base.id),
        write: (left) => write(base.id, left),
        isTagged: false,
      })
      if (made.outcome === 'conflict') return setConflict({ ...made, patch })
    }
    await done()
  }
  const dialog = conflict !== null && (
    <ConflictDialog
      key={conflict.theirs.updatedAt}
      conflict={conflict}
      save={(patch) => save(conflict.theirs, patch)}
      close={close}
    />
  )
  return { save, dialog }
}
