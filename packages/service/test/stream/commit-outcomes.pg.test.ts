/** What the commit function answers where two changes, or two clocks, meet. */
import { expect, test } from 'vitest'
import { testJournal } from '../harness/journal.ts'

test('a clock set back between the decision and its commit fails nothing', async () => {
  await using journal = await testJournal()
  const { clock, decide, organizationId } = journal
  clock.advance(60_000)
  const create = await decide.customer.create(organizationId, { name: 'Ada' })
  clock.advance(-3_600_000)
  const row = await journal.done(create)
  expect(JSON.parse(row.body)).toMatchObject({ name: 'Ada' })
  expect(row.updatedAt >= JSON.parse(row.body).createdAt).toBe(true)
})

test('a change of an outdated row is a conflict, whatever else it would run into', async () => {
  await using journal = await testJournal()
  const { decide, organizationId, commit } = journal
  const mine = { name: 'Ada', externalId: 'mine' }
  const old = await journal.done(decide.customer.create(organizationId, mine))
  await journal.done(decide.customer.update(organizationId, old, { externalId: null }))
  const other = await journal.done(decide.customer.create(organizationId, { ...mine, name: 'Bob' }))

  // Decided on the row as it was: it carries along the external id that another customer has by now.
  const renamed = await decide.customer.update(organizationId, old, { name: 'Ada Lovelace' })
  expect(await commit(renamed)).toEqual([{ outcome: 'conflict' }])

  // The same change decided on the current row runs into it.
  const [current] = await commit(await decide.customer.update(organizationId, other, { name: 'Bob Martin' }))
  expect(current?.outcome).toBe('done')
})
