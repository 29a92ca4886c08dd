/** What the commit function answers where two changes, or two clocks, meet. */
import { expect, test } from 'vitest'
import type { UnitOutcome } from '../../src/journal/change.ts'
import { audit, eventsOf } from '../harness/audit.ts'
import { rowOf } from '../harness/decide.ts'
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

test('a removal takes what refers to it, and the same call refuses what would', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  const ada = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  const of = (subject: string) => decide.ticket.create(organizationId, { subject, customerId: ada.id })
  const [changed, removed] = await Promise.all([journal.done(of('changed')), journal.done(of('removed'))])
  const changes = [
    await of('too late'),
    await decide.ticket.update(organizationId, changed, { subject: 'too late as well' }),
    await decide.customer.remove(organizationId, ada),
    await decide.ticket.remove(organizationId, removed),
  ]
  const outcomes = await journal.commitInOneCall(...changes.map((change) => ({ changes: [change] })))
  expect(outcomes.map(refusalOf)).toEqual(['dangling', undefined, 'done', undefined])
  expect(await audit(pool, organizationId)).toEqual([])
  const events = (await eventsOf(pool, organizationId)).slice(-3)
  expect(events.map(({ type }) => type).sort()).toEqual([
    'customer.deleted',
    'ticket.deleted',
    'ticket.deleted',
  ])
  expect(new Set(events.map(({ at }) => at)).size).toBe(1)
})

test('a unit without use for bodies is told what was made, and others in its call keep theirs', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  const create = (name: string) => decide.customer.create(organizationId, { name })
  const [ada, bob, eve] = [await create('Ada'), await create('Bob'), await create('Eve')]
  const alone = await journal.commitInOneCall({ changes: [ada], idsOnly: true })
  expect(alone).toEqual([{ outcome: 'done', bodies: [] }])
  const beside = await journal.commitInOneCall({ changes: [bob], idsOnly: true }, { changes: [eve] })
  const told = { outcome: 'done', bodies: [expect.stringContaining('"name":"Eve"')] }
  expect(beside).toEqual([{ outcome: 'done', bodies: [] }, told])
  // What is written is written all the same.
  expect(await audit(pool, organizationId)).toEqual([])
  expect((await eventsOf(pool, organizationId)).map(({ type }) => type)).toEqual(
    Array(3).fill('customer.created'),
  )
})

test('values and keys that are taken refuse their change and not its neighbours', async () => {
  await using journal = await testJournal()
  const { decide, organizationId, commit } = journal
  const create = (body: object) => decide.customer.create(organizationId, body)
  const ada = await journal.done(create({ email: 'ada@example.com', externalId: '1' }))
  const bob = await journal.done(create({ email: 'bob@example.com' }))
  const outcomes = await commit(
    // Both of its values are taken: it is told of one.
    await create({ email: 'ada@example.com', externalId: '1' }),
    await create({ email: 'eve@example.com' }),
    await decide.customer.update(organizationId, bob, { externalId: '1' }),
    // Its own values do not stand in its way.
    await decide.customer.update(organizationId, ada, { email: 'ada@example.com', name: 'Ada' }),
  )
  expect(outcomes).toMatchObject([
    { outcome: 'duplicate', field: 'email', existingId: ada.id },
    { outcome: 'done' },
    { outcome: 'duplicate', field: 'externalId', existingId: ada.id },
    { outcome: 'done' },
  ])
  // A removed row holds nothing.
  const current = outcomes[3]?.outcome === 'done' ? rowOf(outcomes[3].body) : ada
  await journal.done(decide.customer.remove(organizationId, current))
  await journal.done(create({ email: 'ada@example.com', externalId: '1' }))
})

/** Why the change of a unit was refused; undefined when its row had moved on. */
function refusalOf(outcome: UnitOutcome): string | undefined {
  return outcome.outcome === 'done' ? 'done' : [...outcome.refusals.values()][0]?.outcome
}
