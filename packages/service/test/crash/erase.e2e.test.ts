/** kill -9 of the API in the middle of a large erase: the person is there whole or gone whole, and a repetition ends it. */
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { makeConversation, makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'
import { tablesOf } from '../../src/backup/tables.ts'

const trace = 'Zarathustra'
const messages = 5_000
const committing = `pid <> pg_backend_pid() and datname = current_database() and state <> 'idle' and query like '%commit_%'`

test('a large erase that is killed at any moment has done nothing or all, and goes on when it is repeated', async () => {
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const { api } = service
  const start = () =>
    services.serve(['--role', 'api', '--database-url', socketUrl(connection)], {
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
  // Makes the log's weeks, as rows that move into one look like those of another commit.
  await service.app.maintenance.run()
  const { id } = await makeCustomer(api, { name: trace })
  const conversation = await makeConversation(api, { customerId: id, subject: trace })
  const said = {
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer', name: trace },
  }
  for (let made = 0; made < messages; made += 1_000) {
    const items = Array.from({ length: 1_000 }, (_, n) => ({ ...said, body: `${trace} ${made + n}` }))
    expect((await api.post('/v1/messages/batch', { items })).status).toBe(200)
  }
  const count = async (what: string) => {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${what}`)
    return rows[0]?.count ?? 0
  }
  const states: [name: string, reached: () => Promise<boolean>][] = [
    ['it is in the commit', async () => (await count(`pg_stat_activity where ${committing}`)) > 0],
    ['stored payloads are being erased', async () => (await count('events where body is null')) > 500],
    ['it is done', async () => (await count(`events where body like '%${trace}%'`)) === 0],
  ]
  const headers = { authorization: `Bearer ${api.token}`, 'idempotency-key': 'erase' }
  for (const [name, reached] of states) {
    const process = await start()
    const answered = fetch(`${process.url}/v1/customers/${id}/erase`, { method: 'POST', headers }).catch(
      () => null,
    )
    // A repetition answers at once: then maintenance does what is left.
    await eventually(name, async () => (await reached()) || (await Promise.race([answered, null])) !== null)
    await process.end('SIGKILL')
    expect(process.output.all).not.toContain(trace)
    await eventually(
      'its connections have ended',
      async () => (await count(`pg_stat_activity where ${committing}`)) === 0,
    )
    expect([0, messages]).toContain(await count('messages where removed_at is null'))
    expect(await audit(pool, api.organizationId)).toEqual([])
  }
  const receipt = await api.post(`/v1/customers/${id}/erase`, undefined, { 'idempotency-key': 'erase' })
  expect([receipt.status, receipt.json.removed.message]).toEqual([200, messages])
  // A repetition says what is left.
  expect(receipt.json.remaining === undefined).toBe(
    (await count(`events where body like '%${trace}%'`)) === 0,
  )
  await service.app.maintenance.run()
  for (const { name } of await tablesOf(pool))
    expect([name, await count(`${name} t where t::text ilike '%${trace}%'`)]).toEqual([name, 0])
  expect(
    (await api.get('/v1/messages?updatedAfter=1970-01-01T00:00:00Z')).json.pagination.checkpoint.count,
  ).toBe(0)
})
