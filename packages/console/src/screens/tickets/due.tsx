/** When a ticket is due, changed where it is shown: saved with Enter, on leaving, or when a day is chosen. */
import { useRef, useState } from 'react'
import { Field } from '../../design/field.tsx'
import { fromLocal, readLocal, timeProblem, toLocal } from '../../design/local-time.ts'
import { TimeInput } from '../../design/time-input.tsx'
import type { Ticket } from '../desk/objects.ts'

export function Due({
  ticket,
  save,
}: {
  readonly ticket: Ticket
  /** Returns the saved version, and throws refusals. `base`: the version that was shown when the user began. */
  readonly save: (base: Ticket, dueAt: string | null) => Promise<Ticket>
}) {
  const [edit, setEdit] = useState<{ readonly base: Ticket; readonly text: string } | null>(null)
  const [error, setError] = useState<string>()
  const wanted = useRef('')
  const isSaving = useRef(false)
  const text = edit?.text ?? textOf(ticket)
  function change(next: string): void {
    setEdit({ base: edit?.base ?? ticket, text: next })
    setError(undefined)
  }
  async function finish(typed: string): Promise<void> {
    if (typed.trim() !== '' && readLocal(typed) === null) return setError(timeProblem)
    wanted.current = typed
    if (isSaving.current) return
    isSaving.current = true
    try {
      let base = edit?.base ?? ticket
      let sent = textOf(base)
      while (wanted.current.trim() !== sent) {
        sent = wanted.current.trim()
        base = await save(base, fromLocal(sent, base.dueAt))
      }
      setEdit((now) => (now?.text.trim() === sent ? null : now))
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown))
    } finally {
      isSaving.current = false
    }
  }
  return (
    <Field label="Due" isUnseen error={error}>
      <TimeInput
        value={text}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        onPick={(picked) => void finish(picked)}
        onBlur={() => void finish(text)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') void finish(text)
          if (key === 'Escape') change(textOf(edit?.base ?? ticket))
        }}
      />
    </Field>
  )
}

function textOf({ dueAt }: Ticket): string {
  return dueAt === null ? '' : toLocal(dueAt)
}
