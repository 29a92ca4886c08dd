import { email, flag, text } from '../../kernel/fields/fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'

/** Who works at the desk (specification 4.8). An inactive teammate stays; a deleted one leaves no reference. */
export const teammate = defineKind({
  name: 'teammate',
  plural: 'teammates',
  description: 'A person who works at the desk.',
  canAct: true,
  fields: {
    name: text({ min: 1, max: 255, required: true, search: true, description: 'Full name.' }),
    email: email({
      description: 'Stored in lower case and Unicode NFC.',
      column: 'email',
      filter: true,
      search: true,
    }),
    active: flag({ initial: true, column: 'active', description: 'Whether work can be assigned.' }),
  },
  events: { 'teammate.deleted': 'a teammate is deleted' },
  removedEvent: 'teammate.deleted',
  rules: { events: () => [] },
  example: { name: 'Grace Hopper', email: 'grace@example.com' },
})
