/** Deletes the version of an object of the desk that the question was asked about. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { tagOf, type Versioned } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { keys, type Plural } from '../../api/keys.ts'
import { markRemoved } from '../../api/live.ts'
import { ApiProblem, isOfRemoved } from '../../api/problem.ts'
import { Confirm } from '../../design/dialog.tsx'
import { say } from '../../design/toasts.tsx'
import { Meanwhile } from './meanwhile.tsx'
import { readOne } from './objects.ts'

interface ConfirmDeleteProps {
  readonly close: () => void
  readonly kind: Plural
  /** Of the kind: `customer`. */
  readonly noun: string
  /** As it is now. */
  readonly row: Versioned
  /** Leaves the screen of the object. */
  readonly after?: () => unknown
  /** The consequences. */
  readonly children: ReactNode
}

/** Shown while it is rendered. What changed meanwhile is shown, and the next press deletes that. */
export function ConfirmDelete({ close, kind, noun, row, after, children }: ConfirmDeleteProps) {
  const client = useQueryClient()
  const [opened] = useState(row)
  const [seen, setSeen] = useState(row)
  const now = seen.updatedAt > row.updatedAt ? seen : row
  return (
    <Confirm
      isOpen
      close={close}
      title={`Delete ${noun}?`}
      verb="Delete"
      act={async () => {
        try {
          await answerOf(api()[kind].delete(row.id, { ifMatch: tagOf(seen) }))
        } catch (error) {
          if (error instanceof ApiProblem && error.status === 412) setSeen(await readOne(kind, row.id))
          // Somebody else was faster.
          if (!isOfRemoved(error)) throw error
        }
        say(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} deleted`)
        await after?.()
        markRemoved(client, kind, row.id)
        await client.invalidateQueries({ queryKey: keys.all(kind) })
      }}
    >
      <Meanwhile base={opened} now={now} />
      {children}
    </Confirm>
  )
}
