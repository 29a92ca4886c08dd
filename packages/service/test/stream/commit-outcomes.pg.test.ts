/** What the commit function answers where two changes, or two clocks, meet. */
import { expect, test } from 'vitest'
import { audit, eventsOf } from '../../../testbed/audit.ts'
import { decideMessage, idempotencyRecord, rowOf } from '../../../testbed/decide.ts'
import { testJournal } from '../../../testbed/journal.ts'
import type { UnitOutcome } from '../../src/journal/change.ts'
import { refused } from '../../src/kernel/outcome.ts'

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
  const bob = { ...mine, name: 'Bob', email: 'bob@example.com' }
  const other = await journal.done(decide.customer.create(organizationId, bob))

  // Decided on the row as it was: it carries along the external id that another customer has by now.
  const renamed = await decide.customer.update(organizationId, old, { name: 'Ada Lovelace' })
  const taking = await decide.customer.update(organizationId, old, { email: bob.email })
  const removed = await decide.customer.remove(organizationId, old)
  for (const late of [renamed, taking, removed])
    expect(await commit(late)).toEqual([refused({ reason: 'conflict' })])

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
  const late = await decide.ticket.update(organizationId, changed, { subject: 'too late as well' })
  const changes = [
    await of('too late'),
    { ...late, idempotency: idempotencyRecord('late') },
    await decide.customer.remove(organizationId, ada),
    await decide.ticket.remove(organizationId, removed),
  ]
  const outcomes = await journal.commitInOneCall(...changes.map((change) => ({ changes: [change] })))
  expect(outcomes.map(refusalOf)).toEqual(['dangling', undefined, 'done', 'done'])
  expect((await pool.query('select 1 from idempotency_keys')).rows).toEqual([])
  expect(await audit(pool, organizationId)).toEqual([])
  const events = (await eventsOf(pool, organizationId)).slice(-3)
  expect(events.map(({ type }) => type).sort()).toEqual([
    'customer.deleted',
    'ticket.deleted',
    'ticket.deleted',
  ])
  expect(new Set(events.map(({ at }) => at)).size).toBe(1)
})

test('a commit answers what is stored: of new rows, numbered ones, changed and removed ones', async () => {
  await using journal = await testJournal()
  const { pool, clock, decide, organizationId } = journal
  const name = 'Ada "the \\ first" 😀'
  const ada = await journal.done(decide.customer.create(organizationId, { name }))
  const eve = await journal.done(decide.customer.create(organizationId, { name: 'Eve' }))
  const ticket = (subject: string) => decide.ticket.create(organizationId, { subject, customerId: ada.id })
  const first = await ticket('first')
  clock.advance(1)
  const changes = [
    await decide.customer.create(organizationId, { name: 'Bob' }),
    await decide.customer.update(organizationId, ada, { company: 'é\u0001' }),
    await decide.customer.remove(organizationId, eve),
    await ticket('second'),
    first,
  ]
  const outcomes = await journal.commitInOneCall(...changes.map((change) => ({ changes: [change] })))
  const told = outcomes.flatMap((outcome) => (outcome.outcome === 'done' ? outcome.value : []))
  const { rows } = await pool.query<{ id: string; body: string }>(
    `select t.id, t.body from customers t where t.organization_id = $1
     union all select t.id, t.body from tickets t where t.organization_id = $1`,
    [organizationId],
  )
  const stored = new Map(rows.map(({ id, body }) => [id, body]))
  expect(told).toEqual(changes.map(({ id }) => stored.get(id)))
  // Numbers are in the order of creation.
  expect(told.map((body) => JSON.parse(body).number)).toEqual([undefined, undefined, undefined, 2, 1])
  expect(await audit(pool, organizationId)).toEqual([])
})

test('values and keys that are taken refuse their change and not its neighbours', async () => {
  await using journal = await testJournal()
  const { decide, organizationId, commit } = journal
  const create = (body: object) => decide.customer.create(organizationId, body)
  const ada = await journal.done(create({ email: 'ada@example.com', externalId: '1' }))
  const bob = await journal.done(create({ email: 'bob@example.com' }))
  const renamed = await decide.customer.update(organizationId, ada, { name: 'Ada' })
  const outcomes = await commit(
    // Both of its values are taken: it is told of one.
    await create({ email: 'ada@example.com', externalId: '1' }),
    await create({ email: 'eve@example.com' }),
    await decide.customer.update(organizationId, bob, { externalId: '1' }),
    // Its own values do not stand in its way, where all are checked as in an upgrade.
    Object.assign(renamed, { unique: { email: 'ada@example.com', external_id: '1' } }),
  )
  expect(outcomes).toMatchObject([
    refused({ reason: 'duplicate', field: 'email', existingId: ada.id }),
    { outcome: 'done' },
    refused({ reason: 'duplicate', field: 'externalId', existingId: ada.id }),
    { outcome: 'done' },
  ])
  // A removed row holds nothing.
  const current = outcomes[3]?.outcome === 'done' ? rowOf(outcomes[3].value) : ada
  await journal.done(decide.customer.remove(organizationId, current))
  await journal.done(create({ email: 'ada@example.com', externalId: '1' }))
})

test('a unit is a conflict where a row that refers to its object came, went or changed since', async () => {
  await using journal = await testJournal()
  const { clock, decide, organizationId, done } = journal
  const { id: customerId } = await done(decide.customer.create(organizationId, { name: 'Ada' }))
  const ticket = (conversationId: string) => {
    const body = { subject: 's', customerId, conversationId, status: 'pending' }
    return done(decide.ticket.create(organizationId, body))
  }
  type Row = Awaited<ReturnType<typeof ticket>>
  const after = async (meanwhile: (first: Row, second: Row) => Promise<unknown>) => {
    const opened = { customerId, channel: 'email' }
    const conversation = await done(decide.conversation.create(organizationId, opened))
    const tickets = [await ticket(conversation.id), await ticket(conversation.id)] as const
    const author = { type: 'customer' }
    const body = { conversationId: conversation.id, direction: 'inbound', author, body: 'Hello' }
    const unit = await decideMessage(clock, organizationId, body, { conversation, tickets })
    await meanwhile(...tickets)
    // Of what it was decided on, it changes the conversation alone.
    const changes = unit.changes.filter(({ table }) => table.kind !== 'ticket')
    const [outcome] = await journal.commitInOneCall({ ...unit, changes })
    return outcome && refusalOf(outcome)
  }
  const update = (row: Row, patch: object) => done(decide.ticket.update(organizationId, row, patch))
  expect(await after(async () => {})).toBe('done')
  expect(await after((first) => ticket(JSON.parse(first.body).conversationId))).toBe('conflict')
  expect(await after((first) => update(first, { status: 'open' }))).toBe('conflict')
  expect(await after((_, second) => update(second, { subject: 'another' }))).toBe('conflict')
})

/** Why the change of a unit was refused; undefined when its row had moved on. */
function refusalOf(outcome: UnitOutcome): string | undefined {
  return outcome.outcome === 'refused' ? [...outcome.error.values()][0]?.reason : outcome.outcome
}
