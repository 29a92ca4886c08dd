/**
 * A deployment as its clients see it, through HTTP alone: calls, the objects that the rules make and that are deleted
 * in the end, and syncs of any page size. Others may be writing: what they write is passed over.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { readJson } from '@deskwire/sdk/json'
import { parseRetryAfter } from '@deskwire/sdk/retry-after'
import { overlong, textOf } from '@deskwire/sdk/text-of'
import { whyUnanswered } from '@deskwire/sdk/unanswered'
import { CommandFailure } from '../failure.ts'
import { Broken, require, short } from './rule.ts'

/** A row, or a removal record. */
export interface StreamRecord {
  readonly object: string
  readonly id: string
  readonly updatedAt?: string
  readonly removedAt?: string
  readonly [field: string]: unknown
}

export interface Row extends StreamRecord {
  readonly updatedAt: string
  readonly createdAt: string
}

interface Pagination {
  readonly total: number
  readonly limit: number
  readonly offset: number
  readonly hasMore: boolean
  readonly nextCursor?: string
  readonly checkpoint?: unknown
}

interface Page {
  readonly data: readonly StreamRecord[]
  readonly pagination: Pagination
  readonly text: string
}

interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever a deployment answers; the rules look at it
  readonly json: any
}

/** A sync read to its end. */
interface Drained {
  readonly records: readonly StreamRecord[]
  readonly pages: readonly Page[]
  readonly cursor: string
}

export type Query = Readonly<Record<string, string | number>>

/** A rule of the interface that can be tried from outside. */
export interface Rule {
  /** Short, fixed, for scripts: `sync.order`. */
  readonly id: string
  /** What has to hold, as one sentence. */
  readonly says: string
  /** Where it is written: a heading of the specification, without its number. */
  readonly section: string
  /** Tries it with objects of its own. @throws Broken when it does not hold. */
  check(desk: Desk): Promise<void>
}

export interface Desk {
  /** On every object that is made here. */
  readonly tag: string
  call(method: string, path: string, query?: Query, body?: object): Promise<Answer>
  customer(body?: object): Promise<Row>
  ticket(customerId: string, body?: object): Promise<Row>
  change(path: string, body: object): Promise<Row>
  remove(path: string): Promise<void>
  /** One page; anything but a page is a broken rule. */
  page(path: string, query: Query): Promise<Page>
  /** Page after page until nothing more follows. */
  drain(path: string, start: Query, limit?: number): Promise<Drained>
  /** Deletes everything that was made here. Answers what could not be deleted. */
  cleanUp(): Promise<readonly string[]>
}

/** The rows that a copy holds which began empty and took these records in. */
export function copyOf(records: readonly StreamRecord[]): readonly Row[] {
  const copy = new Map<string, Row>()
  for (const record of records) {
    if (record.object === 'removed') copy.delete(record.id)
    else copy.set(record.id, record as Row)
  }
  return [...copy.values()]
}

/** Earlier than any organization: where a first sync starts. */
export const beginning = { updatedAfter: '1970-01-01T00:00:00Z' }

/** How long an answer may take, in milliseconds. */
const patience = 70_000

export function createDesk(baseUrl: string, apiKey: string): Desk {
  const base = baseUrl.replace(/\/$/, '')
  const tag = `conform-${randomUUID().slice(0, 8)}`
  const customers: string[] = []

  async function call(method: string, path: string, query: Query = {}, body?: object): Promise<Answer> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const url = `${base}${path}${search.size === 0 ? '' : `?${search}`}`
    for (;;) {
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(patience),
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error: Error) => {
        throw new CommandFailure(`${method} ${url} got no answer: ${whyUnanswered(error, url)}`)
      })
      const text = await textOf(response)
      if (text === undefined) throw new CommandFailure(overlong(`The answer to ${method} ${url}`))
      if (response.status !== 429) return { status: response.status, text, json: parsed(text) }
      await delay(Math.max(1_000, parseRetryAfter(response.headers.get('retry-after'), Date.now()) ?? 0))
    }
  }

  async function made(path: string, body: object): Promise<Row> {
    const { status, text, json } = await call('POST', path, {}, body)
    require(status === 201, () => `POST ${path} answered ${status}: ${short(text)}`)
    return json
  }

  async function page(path: string, query: Query): Promise<Page> {
    const { status, text, json } = await call('GET', path, query)
    const request = `GET ${path}?${new URLSearchParams(query as Record<string, string>)}`
    require(status === 200, () => `${request} answered ${status}: ${short(text)}`)
    const isPage = Array.isArray(json?.data) && typeof json?.pagination?.hasMore === 'boolean'
    require(isPage, () => `${request} answered no page: ${short(text)}`)
    return { data: json.data, pagination: json.pagination, text }
  }

  return {
    tag,
    call,
    page,
    async customer(body = {}) {
      const row = await made('/customers', { name: 'Conformance', tags: [tag], ...body })
      customers.push(row.id)
      return row
    },
    ticket: (customerId, body = {}) =>
      made('/tickets', { subject: 'Conformance', tags: [tag], customerId, ...body }),
    async change(path, body) {
      const { status, text, json } = await call('PATCH', path, {}, body)
      require(status === 200, () => `PATCH ${path} answered ${status}: ${short(text)}`)
      return json
    },
    async remove(path) {
      const { status, text } = await call('DELETE', path)
      require(status === 204, () => `DELETE ${path} answered ${status}: ${short(text)}`)
    },
    async drain(path, start, limit = 100) {
      const pages: Page[] = []
      const records: StreamRecord[] = []
      for (let query = start; ; ) {
        const next = await page(path, { ...query, limit })
        pages.push(next)
        for (const record of next.data) records.push(record)
        const { hasMore, nextCursor } = next.pagination
        require(typeof nextCursor === 'string', () => `a page of a sync of ${path} has no nextCursor`)
        if (!hasMore) return { records, pages, cursor: nextCursor }
        if (query.cursor === nextCursor) throw new Broken(`a sync of ${path} goes on and on at one cursor`)
        query = { cursor: nextCursor }
      }
    },
    async cleanUp() {
      const left: string[] = []
      for (const id of customers) {
        const { status } = await call('DELETE', `/customers/${id}`)
        if (status !== 204 && status !== 404) left.push(id)
      }
      return left
    },
  }
}

function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return null
  }
}

/** A record's place in the order of the stream, which compares as text. */
export function placeOf({ updatedAt, removedAt, id }: StreamRecord): string {
  return `${removedAt ?? updatedAt} ${id}`
}

/** A moment just before the row's last change. */
export function justBefore({ updatedAt }: Row): Query {
  return { updatedAfter: new Date(Date.parse(updatedAt) - 1).toISOString() }
}

/** What of records the rules compare: kind of record, and id. */
export function names(records: readonly StreamRecord[]): string[] {
  return records.map(({ object, id }) => `${object} ${id}`)
}
