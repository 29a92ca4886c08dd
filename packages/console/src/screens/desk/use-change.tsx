/** A change without a form: an assignee, a status, a tag. */
import { type ReactNode, useState } from 'react'
import { change, type Patch, type Versioned } from '../../api/change.ts'
import { sayProblem } from '../../design/toasts.tsx'
import { type Conflict, ConflictDialog, type ConflictProps } from './conflict.tsx'

interface ChangeOptions<T extends Versioned>
  extends Pick<ConflictProps<T>, 'label'>,
    Partial<Pick<ConflictProps<T>, 'words'>> {
  readonly read: () => Promise<T>
  readonly write: (patch: Patch, ifMatch: string) => Promise<T>
  /** Called with the new version. */
  readonly done: (row: T) => unknown
}

/** `put` makes the change, or shows `dialog` for a conflict. Refusals are shown as a toast. */
export function useChange<T extends Versioned>({
  read,
  write,
  done,
  label,
  words,
}: ChangeOptions<T>): {
  readonly put: (base: T, patch: Patch) => Promise<void>
  readonly isBusy: boolean
  readonly dialog: ReactNode
} {
  const [conflict, setConflict] = useState<Conflict<T> | null>(null)
  const [isBusy, setBusy] = useState(false)
  async function save(base: T, patch: Patch): Promise<void> {
    if (Object.keys(patch).length === 0) {
      setConflict(null)
      done(base)
      return
    }
    const made = await change({ base, patch, read, write })
    setConflict(made.outcome === 'conflict' ? { ...made, patch } : null)
    done(made.outcome === 'conflict' ? made.theirs : made.row)
  }
  return {
    put: async (base, patch) => {
      setBusy(true)
      try {
        await save(base, patch)
      } catch (error) {
        sayProblem('Not saved', error)
      } finally {
        setBusy(false)
      }
    },
    isBusy,
    dialog: conflict !== null && (
      <ConflictDialog
        key={conflict.theirs.updatedAt}
        conflict={conflict}
        label={label}
        words={words}
        close={() => setConflict(null)}
        save={(patch) => save(conflict.theirs, patch)}
      />
    ),
  }
}
