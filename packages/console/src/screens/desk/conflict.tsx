/** A change that conflicts: both values of each field, and the user chooses. */
import { useId, useState } from 'react'
import type { Patch, Versioned } from '../../api/change.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { ErrorState } from '../../design/states.tsx'
import { sayExact } from '../../design/time.tsx'
import css from './conflict.module.css'

export interface Conflict<T extends Versioned> {
  readonly theirs: T
  readonly patch: Patch
  readonly fields: readonly string[]
}

export interface ConflictProps<T extends Versioned> {
  readonly conflict: Conflict<T>
  /** The name of a field, and its value in words. */
  readonly label: (field: string) => string
  readonly words?: (field: string, value: unknown) => string | undefined
  /** Makes the remaining change on the current version. */
  readonly save: (patch: Patch) => Promise<unknown>
  readonly close: () => void
}

export function ConflictDialog<T extends Versioned>(props: ConflictProps<T>) {
  return (
    <Dialog
      isOpen
      isWide
      close={props.close}
      title="Someone else changed this"
      about="These fields changed while you were editing. Your changes are not saved yet. Choose a value for each field."
    >
      <Choice {...props} />
    </Dialog>
  )
}

function Choice<T extends Versioned>({ conflict, label, words, save, close }: ConflictProps<T>) {
  const { theirs, patch, fields } = conflict
  const id = useId()
  const [isMine, setMine] = useState<Readonly<Record<string, boolean>>>({})
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const say = (field: string, value: unknown) => words?.(field, value) ?? sayValue(value)
  async function run(): Promise<void> {
    setBusy(true)
    setError(null)
    try {
      const kept = Object.entries(patch).filter(([name]) => !fields.includes(name) || isMine[name] !== false)
      await save(Object.fromEntries(kept))
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {fields.map((field) => (
        <fieldset key={field} className={css.field}>
          <legend>{label(field)}</legend>
          {(['mine', 'theirs'] as const).map((whose) => (
            <label key={whose} className={css.choice}>
              <input
                type="radio"
                name={`${id}-${field}`}
                checked={(isMine[field] !== false) === (whose === 'mine')}
                onChange={() => setMine({ ...isMine, [field]: whose === 'mine' })}
              />
              <span className={css.whose}>{whose === 'mine' ? 'Yours' : 'Theirs'}</span>
              <span className={css.value}>
                {say(field, whose === 'mine' ? patch[field] : Reflect.get(theirs, field))}
              </span>
            </label>
          ))}
        </fieldset>
      ))}
      <p className={css.when}>Theirs was saved {sayExact(Date.parse(theirs.updatedAt))}.</p>
      {error !== null && <ErrorState error={error} />}
      <DialogActions>
        <Button onClick={close}>Keep theirs</Button>
        <Button kind="primary" isBusy={isBusy} onClick={() => void run()}>
          Save
        </Button>
      </DialogActions>
    </>
  )
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'Empty'
  if (Array.isArray(value)) return value.length === 0 ? 'Empty' : value.join(', ')
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  return /^\d{4}-\d\d-\d\dT/.test(text) ? sayExact(Date.parse(text)) : text
}
