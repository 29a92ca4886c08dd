/** An epoch belongs to its organization: wherever its rows are its cursors hold, and no other's end with them. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { beginning, drain, syncPage } from '../../../testbed/drain.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { markRestored } from '../../src/backup/restore.ts'
import { tablesOf } from '../../src/backup/tables.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'

/** Everything of an organization, put beside what another database has. */
async function copyOrganization(from: Pool, to: Pool, organizationId: string): Promise<void> {
  for (const { name, columns } of await tablesOf(from)) {
    if (!columns.includes('organization_id')) continue
    const { rows } = await from.query<{ row: string }>(
      `select row_to_json(t)::text as row from ${name} t where t.organization_id = $1`,
      [organizationId],
    )
    await to.query(
      `insert into ${name} (${columns.join()}) select ${columns.map((column) => `r.${column}`).join()}
         from unnest($1::text[]) as x(line) cross join lateral json_populate_record(null::${name}, x.line::json) r`,
      [rows.map(({ row }) => row)],
    )
  }
}

async function asked(api: Api, cursor: string, path = '/v1/customers'): Promise<string> {
  const { status, json } = await api.get(`${path}?cursor=${cursor}`)
  return status === 200 ? 'page' : `${status} ${json.code}`
}

const cursorOf = async (api: Api, path = '/v1/customers') =>
  (await drain(api, path, beginning)).last.pagination.nextCursor

test('an organization that stands in another database goes on there: cursors, watermarks, entity tags', async () => {
  await using here = await testService()
  await using there = await testService()
  const { api } = here
  // Both were restored once, and are in epochs of their own.
  await markRestored(here.database.pool, systemClock)
  await markRestored(there.database.pool, systemClock)
  const customer = await makeCustomer(api)
  await makeTicket(api, { customerId: customer.id })
  const paths = ['/v1/customers', '/v1/changes']
  const kept = await Promise.all(paths.map((path) => cursorOf(api, path)))
  const { cursor: ofDigests } = (await api.get('/v1/customers/digests')).json
  const before = await drain(api, '/v1/changes', beginning)
  const neighbours = await cursorOf(there.api)

  await copyOrganization(here.database.pool, there.database.pool, api.organizationId)
  const moved = there.withToken(api.token)
  expect((await drain(moved, '/v1/changes', beginning)).records).toEqual(before.records)
  const tag = String((await api.get(`/v1/customers/${customer.id}`)).headers.get('etag'))
  const changed = await moved.patch(`/v1/customers/${customer.id}`, { name: 'Moved' }, { 'if-match': tag })
  expect(changed.status).toBe(200)
  for (const [n, path] of paths.entries()) {
    expect((await syncPage(moved, path, `cursor=${kept[n]}`)).data).toEqual([changed.json])
    expect((await syncPage(moved, path, `updatedAfter=${customer.updatedAt}`)).data).toContainEqual(
      changed.json,
    )
  }
  expect((await syncPage(moved, '/v1/customers', `cursor=${ofDigests}`)).data).toEqual([changed.json])
  expect(await asked(there.api, neighbours)).toBe('page')

  // The restore of a database ends the cursors of all that stand in it, and of no other.
  await markRestored(there.database.pool, systemClock)
  expect(await asked(moved, String(kept[0]))).toBe('410 cursor_too_old')
  expect(await asked(there.api, neighbours)).toBe('410 cursor_too_old')
  expect(await asked(api, String(kept[0]))).toBe('page')
  expect(await asked(api, await cursorOf(moved))).toBe('410 cursor_too_old')
})

test('an organization that is made after a restore begins in its epoch', async () => {
  await using service = await testService()
  const { pool } = service.database
  const { epoch } = await markRestored(pool, systemClock)
  const { organizationId, token } = await createOrganization(pool, systemClock, 'Newest')
  const api = service.withToken(token)
  expect(await asked(api, await cursorOf(api))).toBe('page')
  const { rows } = await pool.query(
    'select o.epoch from organization_clocks o where o.organization_id = $1',
    [organizationId],
  )
  expect(rows).toEqual([{ epoch }])
})
