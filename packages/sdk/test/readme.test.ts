/** The README's example is a file that compiles, and it runs. */
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { customer, idOf, referenceCheckpoint, ticket } from './rows.ts'
import { type Step, scripted } from './scripted.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test('the README shows the example word for word', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(read('../README.md')) ?? []
  expect(shown).toBe(read('./readme-example.ts'))
})

test('the example works as written', async () => {
  const rows = [ticket(1, idOf(9)), ticket(2, idOf(9))]
  const page = (data: unknown[], nextCursor: string, count: number, hasMore: boolean): Step => {
    const proof = hasMore ? {} : { checkpoint: referenceCheckpoint(rows.slice(0, count)) }
    const pagination = { total: count, limit: 20, offset: 0, hasMore, nextCursor, ...proof }
    return { status: 200, body: { data, pagination } }
  }
  const gone = { object: 'removed', id: idOf(2), resource: 'ticket', removedAt: '2026-01-31T10:00:00.000Z' }
  const { baseUrl, seen } = await scripted(
    { status: 201, body: customer(9) },
    { status: 201, body: rows[0] },
    page(rows.slice(0, 1), 'c1', 2, true),
    page(rows.slice(1), 'c2', 2, false),
    page([gone], 'c3', 1, false),
  )
  vi.stubEnv('DESKWIRE_URL', baseUrl)
  vi.stubEnv('DESKWIRE_API_KEY', 'dwk_x')
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    await import('./readme-example.ts')
    expect(log.mock.calls).toEqual([
      [2, 'tickets, exact:', true],
      [1, 'tickets, exact:', true],
    ])
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
  }
  expect(seen[1]?.body).toEqual({ customerId: idOf(9), subject: 'The engine halts' })
  expect(seen.slice(2).map(({ query }) => query.cursor)).toEqual([undefined, 'c1', 'c2'])
})
