/** The programs that the documents show, as they show them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { blocksOf, run } from '../../testbed/document-programs.ts'
import { testService } from '../../testbed/service.ts'

test('the checkpoint that the specification computes is the one that it shows', async () => {
  const [program = ''] = blocksOf('docs/specification.md', 'js')
  const [shown] = blocksOf('docs/specification.md', 'text')
  expect(await run(program)).toBe(shown)
})

test('the copy that the guide repairs has what the service has', async () => {
  await using service = await testService()
  const { api } = service
  const customerId = (await api.post('/v1/customers', { name: 'Ada' })).json.id
  for (let n = 0; n < 9; n++) await api.post('/v1/tickets', { customerId, subject: `No. ${n}` })
  const [, repair = ''] = blocksOf('docs/guides/sync.md', 'ts')
  const program = `${repair}
const client = createClient()
const rows = new Map<string, Ticket>()
let cursor = ''
for await (const page of client.tickets.sync()) {
  for (const change of page.changes) if (change.type === 'upsert') rows.set(change.row.id, change.row)
  cursor = page.cursor
}
const [gone, changed] = [...rows.values()] as [Ticket, Ticket]
rows.delete(gone.id)
rows.set(changed.id, { ...changed, subject: 'Mangled' })
await repair(rows, cursor)
console.log([...rows.values()].map(({ subject }) => subject).sort().join())
`
  const shown = await run(
    program,
    { DESKWIRE_URL: `${service.url}/v1`, DESKWIRE_API_KEY: api.token },
    'module-typescript',
  )
  expect(shown).toBe(`${Array.from({ length: 9 }, (_, n) => `No. ${n}`).join()}\n`)
})

test('the copy that the guide keeps over plain HTTP stays exact, also over a restore', async () => {
  await using service = await testService()
  const { api, database } = service
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-guide-'))
  try {
    const [program = ''] = blocksOf('docs/guides/sync.md', 'js')
    const catchUp = () =>
      run(program, {
        DESKWIRE_URL: `${service.url}/v1`,
        DESKWIRE_API_KEY: api.token,
        COPY: join(directory, 'tickets.db'),
      })
    const newCustomer = async (name: string) => (await api.post('/v1/customers', { name })).json.id

    expect(await catchUp()).toBe('0 tickets, exact\n')
    const [customerId, other] = [await newCustomer('Ada'), await newCustomer('Grace')]
    // More than one page of a hundred.
    const created = await Promise.all(
      Array.from({ length: 120 }, (_, n) => api.post('/v1/tickets', { customerId, subject: `No. ${n}` })),
    )
    const kept = await api.post('/v1/tickets', { customerId: other, subject: 'Stays' })
    expect(await catchUp()).toBe('121 tickets, exact\n')

    await api.patch(`/v1/tickets/${kept.json.id}`, { status: 'open' })
    await api.delete(`/v1/tickets/${created[7]?.json.id}`)
    expect(await catchUp()).toBe('120 tickets, exact\n')
    expect(await catchUp()).toBe('120 tickets, exact\n')

    // A value that somebody changes under the version that it has.
    const copy = new DatabaseSync(join(directory, 'tickets.db'))
    const ofKept = `from tickets where id = '${kept.json.id}'`
    const { body } = copy.prepare(`select body ${ofKept}`).get() as { body: string }
    const change = copy.prepare('update tickets set body = ? where id = ?')
    change.run(body.replace('Stays', 'Changed'), kept.json.id)
    expect(await catchUp()).toMatch(/^120 tickets, not exact/)
    change.run(body, kept.json.id)
    copy.close()

    await api.delete(`/v1/customers/${customerId}`)
    await database.pool.query('update organization_clocks set epoch = epoch + 1')
    expect(await catchUp()).toBe('1 tickets, exact\n')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
