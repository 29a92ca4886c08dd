/** Creates or changes a conversation. */
import { answerOf, api } from '../../api/client.ts'
import type { FormField } from '../desk/form-values.ts'
import { ObjectForm } from '../desk/object-form.tsx'
import type { Conversation } from '../desk/objects.ts'

export const channels = [
  ['email', 'Email'],
  ['chat', 'Chat'],
  ['sms', 'SMS'],
  ['whatsapp', 'WhatsApp'],
  ['phone', 'Phone'],
  ['api', 'API'],
] as const

const about: readonly FormField[] = [
  { name: 'subject', label: 'Subject', kind: 'line' },
  { name: 'assigneeId', label: 'Assignee', kind: 'teammate', isHalf: true },
  { name: 'tags', label: 'Tags', kind: 'tags', isHalf: true },
]

const rest: readonly FormField[] = [
  { name: 'externalId', label: 'External ID', kind: 'line' },
  { name: 'customAttributes', label: 'Custom attributes', kind: 'attributes' },
]

const creation: readonly FormField[] = [
  { name: 'customerId', label: 'Customer', kind: 'customer', isRequired: true },
  { name: 'channel', label: 'Channel', kind: 'choice', options: channels, isRequired: true },
  ...about,
]

interface ConversationFormProps {
  readonly given?: object
  readonly close: () => void
  readonly onDone: (conversation: Conversation) => void
}

export function ConversationForm({ given, close, onDone }: ConversationFormProps) {
  return (
    <ObjectForm
      title="Create conversation"
      verb="Create"
      done="Conversation created"
      fields={creation}
      kind="conversations"
      given={{ channel: 'email', ...given }}
      close={close}
      onDone={onDone}
      create={async (body, intent) =>
        await answerOf(api().conversations.create(body, { idempotencyKey: intent }))
      }
    />
  )
}

export function ConversationEdit({
  conversation,
  close,
}: {
  readonly conversation: Conversation
  readonly close: () => void
}) {
  return (
    <ObjectForm
      title="Edit conversation"
      verb="Save"
      done="Conversation saved"
      fields={[...about, ...rest]}
      kind="conversations"
      close={close}
      edited={conversation}
    />
  )
}
