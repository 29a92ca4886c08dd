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

const sumOf = (texts: string[]): string =>
  texts
    .map((text) => createHash('sha256').update(text).digest('hex'))
    .map((hex) => BigInt(`0x${hex.slice(0, 16)}`))
    .reduce((total, number) => (total + number) % 2n ** 64n, 0n)
    .toString(16)
    .padStart(16, '0')

/** Count and digest of rows. */
export const referenceDigest = (rows: { id: string; updatedAt: string }[]) => ({
  count: rows.length,
  digest: sumOf(rows.map(({ id, updatedAt }) => `${id}:${updatedAt}`)),
})

/** The whole checkpoint of rows. */
export const referenceCheckpoint = (rows: { id: string; updatedAt: string }[]) => ({
  ...referenceDigest(rows),
  contentDigest: sumOf(rows.map((row) => JSON.stringify(row))),
})
