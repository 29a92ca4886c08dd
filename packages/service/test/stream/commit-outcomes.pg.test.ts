/** What the commit function answers where two changes, or two clocks, meet. */
import { expect, test } from 'vitest'
import { testJournal } from '../harness/journal.ts'

test('a clock set back between the decision and its commit fails nothing', async () => {
  await using journal = await testJournal()
  const { clock, decide, organizationId } = journal
  const create = await decide.customer.create(organizationId, { name: 'Ada' })
  clock.advance(-3_600_000)
  const row = await journal.done(create)
  expect(JSON.parse(row.body)).toMatchObject({ name: 'Ada' })
  expect(row.updatedAt >= JSON.parse(row.body).createdAt).toBe(true)
})
