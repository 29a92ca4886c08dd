/** A change that conflicts: both values of each field, and the user chooses. */
import { useId, useState } from 'react'
import type { Patch, Versioned } from '../../api/change.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { ErrorState } from '../../design/states.tsx'
import { sayExact } from '../../design/time.tsx'
import css from './conflict.module.css'
import { nameOfField, useFieldWords } from './fields.ts'

export interface Conflict<T extends Versioned> {
  readonly theirs: T
  readonly patch: Patch
  readonly fields: readonly string[]
}

interface ConflictProps<T extends Versioned> {
  readonly conflict: Conflict<T>
  /** Of an action, which is made as a whole: its button. Default: a value is chosen for each field. */
  readonly verb?: string
  /** Whether the current version still allows the action. */
  readonly isPossible?: boolean
  /** Makes the remaining change on the current version. */
  readonly save: (patch: Patch) => Promise<unknown>
  readonly close: () => void
}

export function ConflictDialog<T extends Versioned>(props: ConflictProps<T>) {
  const { verb, isPossible = true, close } = props
  const next =
    verb === undefined
      ? 'Your changes are not saved yet. Choose a value for each field.'
      : isPossible
        ? 'Your change is not saved yet.'
        : 'Your change is no longer possible.'
  return (
    <Dialog
      isOpen
      isWide
      close={close}
      title="Someone else changed this"
      about={`These fields changed while you were editing. ${next}`}
    >
      <Choice {...props} />
    </Dialog>
  )
}

function Choice<T extends Versioned>({ conflict, verb, isPossible = true, save, close }: ConflictProps<T>) {
  const { theirs, patch, fields } = conflict
  const id = useId()
  const words = useFieldWords()
  const [isMine, setMine] = useState<Readonly<Record<string, boolean>>>({})
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const sideOf = (field: string, whose: 'mine' | 'theirs') =>
    words(field, whose === 'mine' ? patch[field] : Reflect.get(theirs, field))
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
      {fields.map((field) =>
        verb === undefined ? (
          <fieldset key={field} className={css.field}>
            <legend>{nameOfField(field)}</legend>
            {(['mine', 'theirs'] as const).map((whose) => (
              <label key={whose} className={css.choice}>
                <input
                  type="radio"
                  name={`${id}-${field}`}
                  checked={(isMine[field] !== false) === (whose === 'mine')}
                  onChange={() => setMine({ ...isMine, [field]: whose === 'mine' })}
                />
                <span className={css.whose}>{whose === 'mine' ? 'Yours' : 'Theirs'}</span>
                <span className={css.value} dir="auto">
                  {sideOf(field, whose)}
                </span>
              </label>
            ))}
          </fieldset>
        ) : (
          <section key={field} className={css.field} aria-label={nameOfField(field)}>
            <h3>{nameOfField(field)}</h3>
            <dl className={css.sides}>
              <dt>Yours</dt>
              <dd>{sideOf(field, 'mine')}</dd>
              <dt>Theirs</dt>
              <dd>{sideOf(field, 'theirs')}</dd>
            </dl>
          </section>
        ),
      )}
      <p className={css.when}>Theirs was saved {sayExact(Date.parse(theirs.updatedAt))}.</p>
      {error !== null && <ErrorState error={error} />}
      <DialogActions>
        <Button kind={isPossible ? 'plain' : 'primary'} onClick={close}>
          Keep theirs
        </Button>
        {isPossible && (
          <Button kind="primary" isBusy={isBusy} onClick={() => void run()}>
            {verb === undefined ? 'Save' : `${verb} anyway`}
          </Button>
        )}
      </DialogActions>
    </>
  )
}
