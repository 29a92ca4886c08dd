/** Units that reach far, and organizations whose clock is held for long: who waits, and who does not. */
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { testJournal } from '../../../testbed/journal.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import { commitChangeType, commitLimitsType } from '../../src/journal/commit-function.ts'
import { separator } from '../../src/journal/commit-protocol.ts'
import { createOrganization } from '../../src/organization/create.ts'
import { schemaOf } from '../../src/schema.ts'

test('a unit that is large may take longer than any other statement, on that connection alone', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  await pool.query(
    `create function tell_limit(p_organization_id uuid, p_now timestamptz, p_limits ${commitLimitsType.name},
         p_changes text, p_heads text) returns jsonb language sql return jsonb_build_object('refused', '[]'::jsonb, 'stamp', '',
         'done', (select jsonb_object_agg(c.id, case when c.head is null then '{' else '' end || '"updatedAt":"' || current_setting('statement_timeout') || '"}')
           from unnest(string_to_array(p_changes, '${separator}')::${commitChangeType.name}[]) as c))`,
  )
  const teller = journal.beside({ commitFunction: { name: 'tell_limit', definition: '' } })
  const ada = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  const limits: string[] = []
  for (const change of [
    await decide.customer.create(organizationId, { name: 'Grace' }),
    await decide.customer.remove(organizationId, ada),
    await decide.customer.create(organizationId, { name: 'Edsger' }),
  ]) {
    const outcome = await teller.commit(organizationId, change)
    limits.push(outcome.outcome === 'done' ? stampOf(outcome.value) : outcome.outcome)
  }
  expect(limits).toEqual(['30s', '15min', '30s'])
})

test('organizations in one call wait less for a clock than one by itself, and for other rows as long', async () => {
  await using journal = await testJournal()
  const { pool, clock, decide, organizationId } = journal
  const { organizationId: other } = await createOrganization(pool, clock, 'Other')
  const { name, definition } = schemaOf().commitFunction
  // It tells the limits that it had at the clock and after it as the stamp.
  const told = (where: string) => `perform set_config('test.limits', concat_ws(' ',
    nullif(current_setting('test.limits', true), ''), current_setting('lock_timeout')), true);\n  ${where}`
  const clockRow = 'select c.away, c.last_stamp into v_away, v_floor from organization_clocks c'
  const stamp = 'select greatest(greatest(v_floor,'
  const answer = "'done', v_done,"
  for (const place of [clockRow, stamp, answer]) expect(definition).toContain(place)
  const writtenId = '(select w.id from unnest(v_written) w)'
  const telling = { name: `${name}_tells`, definition: '' }
  await pool.query(
    definition
      .replaceAll(name, telling.name)
      .replace(clockRow, told(clockRow))
      .replace(stamp, told(stamp))
      .replace(
        answer,
        `'done', jsonb_build_object(${writtenId}, '"updatedAt":"' || current_setting('test.limits') || '"}'),`,
      ),
  )
  const journalThatTells = journal.beside({ commitFunction: telling })
  const limitsOf = async (...organizations: readonly string[]) => {
    const changes = await Promise.all(
      organizations.map((each) => decide.customer.create(each, { name: 'Ada' })),
    )
    const outcomes = await Promise.all(
      changes.map((each, n) => journalThatTells.commit(organizations[n] as string, each)),
    )
    return outcomes.map((outcome) => (outcome.outcome === 'done' ? stampOf(outcome.value) : outcome.outcome))
  }
  expect(await limitsOf(organizationId)).toEqual(['250ms 250ms'])
  // The second of them, in the order of their ids, tells those of the first as well: they are of one transaction.
  expect(await limitsOf(organizationId, other)).toContain('50ms 250ms')
})

test('a clock that is held for long holds up its own organization, and no other that came with it', async () => {
  await using journal = await testJournal()
  const { pool, database, clock, decide, organizationId } = journal
  const { organizationId: other } = await createOrganization(pool, clock, 'Other')
  const inOneProcess = journal.beside()
  await using held = await lockRow(database, 'organization_clocks', { organizationId })
  const stuck = inOneProcess.commit(
    organizationId,
    await decide.customer.create(organizationId, { name: 'a' }),
  )
  const free = inOneProcess.commit(other, await decide.customer.create(other, { name: 'b' }))
  expect((await free).outcome).toBe('done')
  // It has come round to waiting by itself, for as long as it takes; others come and go.
  for (let n = 0; n < 20; n++) {
    const next = await inOneProcess.commit(other, await decide.customer.create(other, { name: `b${n}` }))
    expect(next.outcome).toBe('done')
  }
  await waitingBackends(database, 1)
  await held.release()
  expect((await stuck).outcome).toBe('done')
  for (const organization of [organizationId, other]) expect(await audit(pool, organization)).toEqual([])
})

function stampOf(body: string): string {
  const { updatedAt, removedAt = updatedAt } = JSON.parse(body) as { updatedAt: string; removedAt?: string }
  return removedAt
}
