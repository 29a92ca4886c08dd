/** Rows for tests, and the proof computed a second way: node:crypto and plain arithmetic, nothing of the SDK. */
import { createHash } from 'node:crypto'
import type { Customer, Ticket } from '../src/index.ts'

const organizationId = '019c1234-0000-7000-8000-000000000000'

export const idOf = (n: number): string => `019c1234-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

export const timeOf = (ms: number): string => new Date(Date.UTC(2026, 0, 31, 9, 30) + ms).toISOString()

export const customer = (n: number, updatedMs = n): Customer => ({
  id: idOf(n),
  object: 'customer',
  organizationId,
  createdAt: timeOf(n),
  updatedAt: timeOf(updatedMs),
  externalId: null,
  tags: [],
  customAttributes: {},
  name: `Customer ${n}`,
  company: null,
  email: null,
  phone: null,
  locale: null,
  timezone: null,
})

export const ticket = (n: number, customerId: string): Ticket => ({
  id: idOf(n),
  object: 'ticket',
  organizationId,
  createdAt: timeOf(n),
  updatedAt: timeOf(n),
  externalId: null,
  tags: [],
  customAttributes: {},
  number: n,
  customerId,
  conversationId: null,
  subject: `Ticket ${n}`,
  description: null,
  type: null,
  priority: 'normal',
  status: 'new',
  assigneeId: null,
  dueAt: null,
  resolvedAt: null,
  closedAt: null,
})

export const referenceCheckpoint = (rows: { id: string; updatedAt: string }[]) => {
  const modulus = 2n ** 64n
  const sum = rows
    .map(({ id, updatedAt }) => createHash('sha256').update(`${id}:${updatedAt}`).digest('hex'))
    .map((hex) => BigInt(`0x${hex.slice(0, 16)}`))
    .reduce((total, number) => (total + number) % modulus, 0n)
  return { count: rows.length, digest: sum.toString(16).padStart(16, '0') }
}
