import { problem } from '../../kernel/errors.ts'
import { email, locale, phone, text, timezone } from '../../kernel/fields/fields.ts'
import { fail, ok } from '../../kernel/outcome.ts'
import { commonFields } from '../../kinds/model/common-fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'

const identity = 'At least one of name, email, phone and externalId must have a value.'

/** A customer of the organization (specification 4.3). */
export const customer = defineKind({
  name: 'customer',
  plural: 'customers',
  description: 'A person or company the organization talks with.',
  fields: {
    name: text({ max: 255, description: 'Full name.', search: true }),
    company: text({ max: 255, description: 'The company that the customer belongs to.', search: true }),
    email: email({
      description: 'Stored in lower case and Unicode NFC.',
      column: 'email',
      unique: true,
      filter: true,
      search: true,
    }),
    phone: phone({ description: 'Telephone number, E.164.', column: 'phone', filter: true, search: true }),
    locale: locale({ description: 'Preferred language, BCP 47.' }),
    timezone: timezone({ description: 'Time zone, IANA.' }),
    ...commonFields(),
  },
  events: {
    'customer.created': 'a customer is added',
    'customer.updated': 'a customer is changed',
    'customer.deleted': 'a customer is deleted',
  },
  removedEvent: 'customer.deleted',
  isPerson: true,
  demands: identity,
  rules: {
    create: identified,
    update: (_before, draft) => identified(draft),
    events: (before) => [before === null ? 'customer.created' : 'customer.updated'],
  },
  example: { name: 'Ada Lovelace', email: 'ada@example.com', tags: ['vip'] },
})

interface Identity {
  readonly name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly externalId: string | null
}

/** A customer without any identification could not be found again. */
function identified<S extends Identity>(draft: S) {
  // An empty name identifies nobody either.
  if (draft.name || draft.email || draft.phone || draft.externalId) return ok(draft)
  const errors = [{ pointer: '', code: 'required', detail: identity }] as const
  return fail(problem('validation_failed', identity, { errors }))
}
