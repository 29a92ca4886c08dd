/** Deletes an object of the desk once that is confirmed. */
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { tagOf, type Versioned } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { keys, type Plural } from '../../api/keys.ts'
import { Confirm } from '../../design/dialog.tsx'
import { say } from '../../design/toasts.tsx'

export function ConfirmDelete({
  isOpen = true,
  close,
  kind,
  noun,
  row,
  after,
  children,
}: {
  readonly isOpen?: boolean
  readonly close: () => void
  readonly kind: Plural
  /** Of the kind: `customer`. */
  readonly noun: string
  readonly row: Versioned
  /** Leaves the screen of the object. */
  readonly after?: () => unknown
  /** The consequences. */
  readonly children: ReactNode
}) {
  const client = useQueryClient()
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`Delete ${noun}?`}
      verb="Delete"
      act={async () => {
        await answerOf(api()[kind].delete(row.id, { ifMatch: tagOf(row) }))
        say(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} deleted`)
        await after?.()
        await client.invalidateQueries({ queryKey: keys.all(kind) })
      }}
    >
      {children}
    </Confirm>
  )
}
