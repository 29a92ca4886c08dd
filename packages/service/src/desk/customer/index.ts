import { reviseSearchTable, translateSearchTable } from '../../db/migrations/search.ts'
import { addBodyVersion, createStreamTable } from '../../db/migrations/stream-table.ts'
import { problem } from '../../kernel/errors.ts'
import { fail, ok } from '../../kernel/result.ts'
import { commonFields } from '../../kinds/model/common-fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { email, locale, phone, text, timezone } from '../../kinds/model/fields.ts'
import { reviseWords } from '../../kinds/model/revise-words.ts'

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
  demands: identity,
  rules: {
    create: identified,
    update: (_before, draft) => identified(draft),
    events: (before) => [before === null ? 'customer.created' : 'customer.updated'],
  },
  migrations: [
    {
      id: '20261120-03-customers',
      statements: createStreamTable({
        name: 'customers',
        columns: ['email text', 'phone text', 'external_id text'],
        unique: ['email', 'external_id'],
        lookup: ['phone'],
        words: true,
      }),
    },
    { id: '20261122-20-customer-search', ...reviseSearchTable('customers') },
    { id: '20261122-41-customer-stored-counts', statements: [] },
    { id: '20261122-50-customer-body-version', statements: [addBodyVersion('customers')] },
    // In databases that had the search tables before they took what earlier releases write.
    { id: '20261123-20-customer-words', statements: translateSearchTable('customers') },
    { id: '20261125-20-customer-marks', ...reviseWords('customers', ['name', 'company', 'email', 'phone']) },
  ],
  example: { name: 'Ada Lovelace', email: 'ada@example.com', tags: ['vip'] },
})

interface Identity {
  readonly name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly externalId: string | null
}

/** A customer that nothing identifies cannot be found again by anyone. */
function identified<S extends Identity>(draft: S) {
  // An empty name identifies nobody either.
  if (draft.name || draft.email || draft.phone || draft.externalId) return ok(draft)
  const errors = [{ pointer: '', code: 'required', detail: identity }] as const
  return fail(problem('validation_failed', identity, { errors }))
}
