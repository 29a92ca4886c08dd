/**
 * A kind that changed after its release, as three releases have it: the first, one that added a field to it, and one that
 * renamed two fields and dropped one as well, the reference that a removal takes away among those renamed.
 */
import { createStreamTable, indexOutdated } from '../../src/db/migrations/stream-table.ts'
import { kinds } from '../../src/desk/index.ts'
import { flag, integer, reference, text } from '../../src/kernel/fields/fields.ts'
import { ok } from '../../src/kernel/outcome.ts'
import { commonFields } from '../../src/kinds/model/common-fields.ts'
import { defineKind } from '../../src/kinds/model/define-kind.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'

const common = {
  name: 'parcel',
  plural: 'parcels',
  description: 'What is on its way to a customer.',
  events: {
    'parcel.created': 'a parcel is sent',
    'parcel.updated': 'a parcel changes',
    'parcel.deleted': 'a parcel is deleted',
  },
  removedEvent: 'parcel.deleted',
  rules: { events: (before: unknown) => [before === null ? 'parcel.created' : 'parcel.updated'] },
} as const

const made = {
  id: '20991231-01-parcels',
  statements: createStreamTable({
    name: 'parcels',
    columns: ['customer_id uuid', 'title text', 'external_id text'],
    unique: ['external_id'],
    lookup: ['customer_id', 'title'],
    search: true,
  }),
}
const owner = { kind: 'customer', onRemove: 'detach' } as const
const owned = { column: 'customer_id', filter: true, description: 'Whose it is.' } as const
const title = text({
  max: 255,
  required: true,
  search: true,
  filter: true,
  column: 'title',
  description: 'What.',
})

const first = {
  ...common,
  fields: {
    title,
    colour: text({ max: 50, search: true, description: 'How it looks.' }),
    ...commonFields(),
    customerId: reference(owner, owned),
  },
  migrations: [made],
  example: { title: 'Books' },
}

/** The first release. */
export const parcel: Kind = defineKind(first)

const urgent = flag({
  initial: false,
  filter: true,
  column: 'urgent',
  description: 'Whether it is pressing.',
})
const added = {
  id: '20991231-02-parcels-urgent',
  ...indexOutdated('parcels', 2),
  statements: ['alter table parcels add column urgent boolean', ...indexOutdated('parcels', 2).statements],
}
const toSecond = (shown: object) => ({ ...shown, urgent: false })

/** One that added a field. */
export const parcelWithUrgency: Kind = defineKind({
  ...first,
  fields: { urgent, ...first.fields },
  migrations: [made, added],
  upgrades: [toSecond],
})

/** One that also renamed two fields and dropped another. What is renamed keeps its column. */
export const parcelRenamed: Kind = defineKind({
  ...common,
  fields: { urgent, name: title, ...commonFields(), ownerId: reference(owner, owned) },
  migrations: [made, added, { id: '20991231-03-parcels-names', ...indexOutdated('parcels', 3) }],
  upgrades: [
    toSecond,
    ({ title, colour: _, customerId, ...shown }) => ({ ...shown, name: title, ownerId: customerId }),
  ],
  rules: { ...common.rules, update: (_before, draft) => ok(draft) },
  example: { name: 'Books' },
})

/** One that also counts what was a flag. */
export const parcelRetyped: Kind = defineKind({
  ...common,
  fields: {
    urgent: integer({ min: 0, max: 9, description: 'How pressing it is.' }),
    name: title,
    ...commonFields(),
    ownerId: reference(owner, owned),
  },
  migrations: [
    ...parcelRenamed.migrations,
    { id: '20991231-04-parcels-urgency', ...indexOutdated('parcels', 4) },
  ],
  upgrades: [
    ...parcelRenamed.upgrades,
    (shown) => ({ ...shown, urgent: 'urgent' in shown && shown.urgent ? 1 : 0 }),
  ],
  rules: { ...common.rules, update: (_before, draft) => ok(draft) },
  example: { name: 'Books' },
})

/** The desk with this release of it. */
export const deskWith = (release: Kind): readonly Kind[] => [...kinds, release]
