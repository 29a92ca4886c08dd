import { Status } from '../../design/status.tsx'
import type { Conversation } from '../desk/objects.ts'

/** Status and handler; an open conversation without either waits for a person. */
export function ConversationStatus({
  conversation: { status, handledBy, assigneeId },
}: {
  readonly conversation: Conversation
}) {
  if (status === 'resolved') return <Status tone="good">Resolved</Status>
  if (handledBy === 'ai') return <Status tone="quiet">Open, with AI</Status>
  return assigneeId === null ? (
    <Status tone="wait">Open, unassigned</Status>
  ) : (
    <Status tone="quiet">Open</Status>
  )
}
