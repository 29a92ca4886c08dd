/** What can be done with the selected rows of a list. The result says how many were done, and why others were not. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { forEach } from '../../api/each.ts'
import { Button } from '../../design/button.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { say, sayProblem } from '../../design/toasts.tsx'
import { teammateOptions, useTeammates } from './objects.ts'

interface BulkAction<T> {
  /** `Resolve`. */
  readonly verb: string
  /** `resolved`. */
  readonly done: string
  readonly call: (row: T) => Promise<unknown>
}

export function Bulk<T>({
  chosen,
  clear,
  queryKey,
  actions,
  assign,
}: {
  readonly chosen: readonly T[]
  readonly clear: () => void
  /** Of the lists that change. */
  readonly queryKey: readonly unknown[]
  readonly actions: readonly BulkAction<T>[]
  /** Null: nobody. */
  readonly assign?: ((row: T, assigneeId: string | null) => Promise<unknown>) | undefined
}) {
  const client = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  async function run({ verb, done: participle, call }: BulkAction<T>): Promise<void> {
    setBusy(verb)
    try {
      const { done, refused, refusals } = await forEach(chosen, call)
      const words = `${done.toLocaleString('en')} ${participle}`
      if (refused === 0) say(words)
      else sayProblem(`${words}, ${refused.toLocaleString('en')} refused`, new Error(refusals.join(' ')))
      clear()
    } catch (error) {
      sayProblem('Not all of them were changed', error)
    } finally {
      await client.invalidateQueries({ queryKey })
      setBusy(null)
    }
  }
  return (
    <>
      {assign !== undefined && (
        <Assign
          isBusy={busy === 'Assign'}
          put={(assigneeId) =>
            void run({ verb: 'Assign', done: 'assigned', call: (row) => assign(row, assigneeId) })
          }
        />
      )}
      {actions.map((action) => (
        <Button key={action.verb} isBusy={busy === action.verb} onClick={() => void run(action)}>
          {action.verb}
        </Button>
      ))}
    </>
  )
}

function Assign({
  isBusy,
  put,
}: {
  readonly isBusy: boolean
  readonly put: (assigneeId: string | null) => void
}) {
  const teammates = useTeammates()
  const active = teammateOptions(teammates.all.filter((one) => one.active))
  return (
    <FilterSelect
      label="Assign to"
      every="Choose"
      value={undefined}
      isBusy={isBusy}
      options={[['nobody', 'Unassigned'], ...active]}
      onChange={(value) => value !== undefined && put(value === 'nobody' ? null : value)}
    />
  )
}
