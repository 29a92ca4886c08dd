/**
 * The limit of a PATCH: callers in this process that use the service's own parts to look up the token, read the row,
 * decide and commit. No HTTP.
 */
import { systemClock } from '@deskwire/service'
import { createLookUp } from '../../packages/service/src/auth/authenticator.ts'
import { unshared } from '../../packages/service/src/db/fair-pool.ts'
import { createPool, endPool } from '../../packages/service/src/db/pool.ts'
import { customer } from '../../packages/service/src/desk/customer/index.ts'
import { kinds } from '../../packages/service/src/desk/index.ts'
import { createJournal } from '../../packages/service/src/journal/journal.ts'
import { createNotifier } from '../../packages/service/src/journal/notifier.ts'
import { createRowReader } from '../../packages/service/src/journal/rows.ts'
import { parseRepresentation, updateChange } from '../../packages/service/src/kinds/model/representation.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { newPatch } from './bare-commit.ts'
import type { Installation, Organization } from './installation.ts'

/** Those of the API. */
const connections = 12

/**
 * Changes a second of so many callers, each with rows of its own, in all organizations in turn. Throws if one is
 * refused.
 */
export async function changeWithoutHttp(
  installation: Installation,
  organizations: readonly Organization[],
  ids: ReadonlyMap<string, readonly string[]>,
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<number> {
  const fail = (error: Error) => {
    throw error
  }
  const pool = createPool(installation.connection, { max: connections, onIdleError: fail })
  const database = unshared(pool)
  const lookUp = createLookUp(pool, systemClock)
  const { read } = createRowReader(database, customer.table)
  const { commit } = createJournal({
    pool,
    database,
    clock: systemClock,
    tables: kinds.map((kind) => kind.table),
    commitFunction: schemaOf().commitFunction,
    maxAttempts: 6,
    // The last notification may come when the pool has ended.
    notifier: createNotifier(pool, () => {}),
  })
  const change = async (turn: number) => {
    const organization = organizations[turn % organizations.length] as Organization
    const found = await lookUp(organization.token)
    if (found.outcome !== 'authenticated') throw new Error(`a token was answered ${found.outcome}`)
    const { organizationId } = found.caller
    const own = ids.get(organizationId) ?? []
    const row = await read(organizationId, String(own[Math.floor(turn / organizations.length) % own.length]))
    if (row === null) throw new Error('a row was not found')
    const state = { ...parseRepresentation(customer, row).state, ...newPatch() }
    const decided = updateChange(customer, systemClock, row, state, null)
    const { outcome } = decided === null ? { outcome: 'none' } : await commit(organizationId, decided)
    if (outcome !== 'done') throw new Error(`a change was answered ${outcome}`)
  }
  try {
    let changes = 0
    const since = performance.now()
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let turn = caller; performance.now() - since < seconds * 1_000; turn += callers) {
          await change(turn)
          changes++
        }
      }),
    )
    return changes / ((performance.now() - since) / 1_000)
  } finally {
    await endPool(pool)
  }
}
