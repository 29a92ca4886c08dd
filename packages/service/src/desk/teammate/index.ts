import { reviseSearchTable, translateSearchTable } from '../../db/migrations/search.ts'
import { addBodyVersion, createStreamTable, lookupIndexes } from '../../db/migrations/stream-table.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { email, flag, text } from '../../kinds/model/fields.ts'
import { reviseWords } from '../../kinds/model/revise-words.ts'

/** Who works at the desk (specification 4.8). No events, no deletion: an inactive teammate stays. */
export const teammate = defineKind({
  name: 'teammate',
  plural: 'teammates',
  description: 'A person who works at the desk.',
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
  events: {},
  removedEvent: null,
  rules: { events: () => [] },
  migrations: [
    {
      id: '20261120-05-teammates',
      statements: createStreamTable({
        name: 'teammates',
        columns: ['email text', 'active boolean'],
        words: true,
      }),
    },
    { id: '20261121-05-teammate-filters', statements: lookupIndexes('teammates', ['email']) },
    { id: '20261122-20-teammate-search', ...reviseSearchTable('teammates') },
    { id: '20261122-41-teammate-stored-counts', statements: [] },
    { id: '20261122-50-teammate-body-version', statements: [addBodyVersion('teammates')] },
    // In databases that had the search tables before they took what earlier releases write.
    { id: '20261123-20-teammate-words', statements: translateSearchTable('teammates') },
    { id: '20261125-20-teammate-marks', ...reviseWords('teammates', ['name', 'email']) },
  ],
  example: { name: 'Grace Hopper', email: 'grace@example.com' },
})
