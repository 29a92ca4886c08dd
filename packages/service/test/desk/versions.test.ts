/** What each kind's representation shows, by its version: the one does not change without the other. */
import { expect, test } from 'vitest'
import { kinds } from '../../src/desk/index.ts'
import { documentVersion } from '../../src/kinds/model/search.ts'
import { schemaOf } from '../../src/schema.ts'

/** The fields of each kind as this release shows them. A change here is a new version, with a step in the kind's `upgrades`. */
const shown: Readonly<Record<string, readonly [version: number, fields: string]>> = {
  teammate: [1, 'name email active'],
  customer: [1, 'name company email phone locale timezone externalId tags customAttributes'],
  conversation: [
    1,
    'channel subject status handledBy assigneeId escalatedAt resolvedAt lastMessageAt summary summarizedAt externalId tags customAttributes customerId',
  ],
  message: [
    1,
    'conversationId direction author body contentType attachments sentAt channel externalId customerId',
  ],
  note: [1, 'conversationId author body customerId'],
  ticket: [
    1,
    'conversationId subject description type priority status assigneeId dueAt resolvedAt closedAt externalId tags customAttributes customerId number',
  ],
  booking: [
    1,
    'title startAt endAt timezone status location assigneeId conversationId notes cancelledBy cancellationReason rejectionReason previousStartAt rescheduleCount confirmedAt completedAt cancelledAt externalId tags customAttributes customerId',
  ],
}

test('a kind that shows other fields has another version', () => {
  const found = kinds.map(({ name, table, representationOrder }) => [
    name,
    [table.version, representationOrder.join(' ')],
  ])
  expect(Object.fromEntries(found)).toEqual(shown)
})

test('search documents of another version are found by an index', () => {
  const statements = schemaOf().migrations.flatMap((migration) => [
    ...(migration.gradually?.indexes ?? []),
    ...migration.statements,
  ])
  for (const { table } of kinds.filter((kind) => kind.table.searchable)) {
    const made = statements.findLast(
      (text) => text.includes(`create index`) && text.includes(`${table.name}_words_outdated`),
    )
    expect(made).toContain(`left(terms, ${documentVersion.length}) <> '${documentVersion}'`)
  }
})
