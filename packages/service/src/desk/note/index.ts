/**
 * Internal notes (specification 4.5): a kind of their own, so that keys, lists, syncs, exports and endpoints which know
 * messages are never sent one (decision 34).
 */
import { validationFailed } from '../../kernel/errors.ts'
import type { StateOf } from '../../kernel/fields/field.ts'
import { text } from '../../kernel/fields/fields.ts'
import { fail, ok } from '../../kernel/outcome.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import type { Effects } from '../../kinds/model/kind.ts'
import { type Conversation, conversationOf, customerOfConversation } from '../conversation/fields.ts'
import { conversation } from '../conversation/index.ts'
import { noConversation } from '../message/arrival.ts'
import { author, authorErrors } from '../message/fields.ts'

const fields = {
  conversationId: conversationOf('The conversation it is about.'),
  author: author(['teammate', 'ai', 'system'], 'Who wrote it.'),
  body: text({
    min: 1,
    max: 64_000,
    required: true,
    search: true,
    description: 'The text. The customer never sees it.',
  }),
  customerId: customerOfConversation,
}

type Note = StateOf<typeof fields>

/** A note takes its customer from its conversation, which it does not change: who may not read notes sees nothing. */
const belonging: Effects<Note> = {
  events: [],
  queuedBehind: ({ conversationId }) => conversationId,
  async plan(drafts, desk) {
    const ids = drafts.map(({ conversationId }) => conversationId)
    const conversations = await desk.byId<Conversation>(conversation, ids)
    const completed = drafts.map((draft) => {
      const about = conversations.get(draft.conversationId)
      return about === undefined ? fail(noConversation) : ok({ ...draft, customerId: about.state.customerId })
    })
    return { drafts: completed, moved: [] }
  },
}

/** An internal note on a conversation. */
export const note = defineKind({
  name: 'note',
  plural: 'notes',
  description: 'An internal note on a conversation. The customer never sees it.',
  fields,
  events: {
    'note.created': 'a note is written',
    'note.updated': 'its text is changed',
    'note.deleted': 'a note is deleted, by itself, with its conversation or with its customer',
  },
  removedEvent: 'note.deleted',
  // A removal takes it, without an event.
  documentedEvents: { fields: { customerId: {} } },
  rules: {
    create(draft) {
      const errors = authorErrors(draft.author)
      return errors.length === 0 ? ok(draft) : fail(validationFailed(errors))
    },
    events: (before) => [before === null ? 'note.created' : 'note.updated'],
  },
  effects: belonging,
  example: {
    conversationId: '01980000-0000-7000-8000-000000000002',
    author: { type: 'teammate', name: 'Grace Hopper' },
    body: 'The carrier lost it. Offer a replacement.',
  },
})
