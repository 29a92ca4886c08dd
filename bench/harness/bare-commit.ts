/**
 * The limit of writing: the service's commit function called through `pg` with calls that were made before, two at a
 * time. No HTTP, validation, reads or parsing.
 */

import { systemClock } from '@deskwire/service'
import { Client } from 'pg'
import { customer } from '../../packages/service/src/desk/customer/index.ts'
import type { Change } from '../../packages/service/src/journal/change.ts'
import { type EncodedUnits, encodeUnits } from '../../packages/service/src/journal/commit-protocol.ts'
import { formatTimestamp } from '../../packages/service/src/kernel/timestamps.ts'
import type { State } from '../../packages/service/src/kinds/model/kind.ts'
import {
  insertChange,
  parseRepresentation,
  updateChange,
} from '../../packages/service/src/kinds/model/representation.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import type { Installation } from './installation.ts'

/** Changes of a call, and calls under way: the fastest combination. */
export const bareBatch = 20
export const bareCalls = 2

const { name: functionName } = schemaOf().commitFunction
const statement = { name: functionName, text: `select ${functionName}($1, $2, $3, $4, $5) as answer` }
/** Responses stay text. */
const types = { getTypeParser: () => (text: string) => text }

/** One change of each of `count` customers. */
export async function bareUpdates(
  installation: Installation,
  organizationId: string,
  count: number,
  patch: Patch = newPatch,
): Promise<Change[]> {
  const { rows } = await installation.pool.query<{ body: string; updated_at: Date }>(
    `select c.body, c.updated_at from customers c
       where c.organization_id = $1 and c.removed_at is null order by c.id limit $2`,
    [organizationId, count],
  )
  return rows.map(({ body, updated_at }) => {
    const version = customer.table.version
    const row = { body, updatedAt: formatTimestamp(updated_at.getTime()), version }
    const state = { ...parseRepresentation(customer, row).state, ...patch() }
    const change = updateChange(customer, systemClock, row, state, null)
    if (change === null) throw new Error('a patch that changes nothing')
    return change
  })
}

/** Creations of `count` customers with these fields. */
export function bareCreations(organizationId: string, count: number, state: () => State): Change[] {
  return Array.from({ length: count }, () =>
    insertChange(customer, organizationId, { state: state(), createdAt: null }, systemClock, null),
  )
}

/**
 * Commits all; returns changes a second. With `maxClockSkew` it compares the clock with the database's, as the service
 * does. Throws if the function refused any.
 */
export async function commitBare(
  installation: Installation,
  organizationId: string,
  changes: readonly Change[],
  maxClockSkew: number | null = null,
): Promise<number> {
  const calls: EncodedUnits[] = []
  for (let n = 0; n < changes.length; n += bareBatch) {
    const units = changes.slice(n, n + bareBatch).map((change) => ({ changes: [change] }))
    calls.push(encodeUnits(units, { maxAttempts: 6, waitsForLock: false, maxClockSkew }))
  }
  const clients = Array.from({ length: bareCalls }, () => new Client(installation.connection))
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const now = formatTimestamp(systemClock.now())
    const since = performance.now()
    await Promise.all(
      clients.map(async (client) => {
        for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
          const values = [organizationId, now, call.limits, call.changes, call.heads]
          const { rows } = await client.query<{ answer: string }>({ ...statement, values, types })
          if (!rows[0]?.answer.includes('"refused": []')) throw new Error('a bare change was refused')
        }
      }),
    )
    return changes.length / ((performance.now() - since) / 1000)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

export type Patch = () => State

/** A new patch of a field that no search reads. */
export function newPatch() {
  return { locale: `en-x-${(++patches).toString(36)}` }
}

/** A new patch of an attribute, which is searched: all search terms of the row are written again (decision 27). */
export function newSearchedPatch() {
  return { customAttributes: { plan: 'team', seats: 25, visits: ++patches } }
}

let patches = 0
