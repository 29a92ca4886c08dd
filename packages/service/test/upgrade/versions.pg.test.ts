/** A kind that changes after its release: what of its rows is served, and what becomes of a row that somebody writes. */
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { parcelRenamed, parcelWithUrgency } from './parcel.fixture.ts'
import { counted, makeParcels, startRelease, versionsOf } from './releases.fixture.ts'

test('a row shows what it showed, until somebody writes it: then it is of the new version, whatever was asked', async () => {
  await using releases = await startRelease()
  const before = await releases.api.post('/v1/parcels', { title: 'Books', colour: 'red', externalId: 'p-1' })
  const { service, api } = await releases.upgradeTo(parcelRenamed)
  const path = `/v1/parcels/${before.json.id}`
  const served = await api.get(path)
  expect(served.text).toBe(before.text)
  expect((await api.get('/v1/parcels?updatedAfter=1970-01-01T00:00:00Z')).json.data).toEqual([before.json])

  // What it asks for is so already: the row is upgraded nevertheless, and no event tells of that.
  const upgraded = await api.patch(path, { name: 'Books' })
  expect(upgraded.status).toBe(200)
  const { title: _, colour: __, customerId: ___, updatedAt, ...kept } = before.json
  expect(upgraded.json).toEqual({
    ...kept,
    urgent: false,
    name: 'Books',
    ownerId: null,
    updatedAt: expect.any(String),
  })
  expect(Object.keys(upgraded.json).slice(-2)).toEqual(['ownerId', 'updatedAt'])
  expect(upgraded.json.updatedAt > updatedAt).toBe(true)
  expect((await api.get(path)).text).toBe(upgraded.text)
  const events = async () =>
    (await storedEvents(service, releases.api.organizationId, before.json.id)).map(({ type }) => type)
  expect(await events()).toEqual(['parcel.created'])
  // Whoever had the row as it was is told so, though nobody edited it.
  const etag = served.headers.get('etag') as string
  expect((await api.patch(path, { name: 'x' }, { 'if-match': etag })).status).toBe(412)

  expect((await api.patch(path, { name: 'Books' })).text).toBe(upgraded.text)
  expect((await api.patch(path, { name: 'Maps' })).json.name).toBe('Maps')
  expect(await events()).toEqual(['parcel.created', 'parcel.updated'])
  expect(await versionsOf(releases.database.pool)).toEqual({ 3: 1 })
})

test('rules, filters, searches and upserts see a row as it is after the upgrade', async () => {
  await using releases = await startRelease()
  const customer = await makeCustomer(releases.api)
  const [id] = await makeParcels(releases.api, 1, () => ({
    title: 'Old books',
    colour: 'green',
    customerId: customer.id,
    externalId: 'p-1',
  }))
  const { api } = await releases.upgradeTo(parcelRenamed)
  // The column is what it was, so the row is found before it is upgraded.
  expect((await api.get('/v1/parcels?name=Old%20books')).json.pagination.total).toBe(1)
  expect((await api.get('/v1/parcels?urgent=false')).json.pagination.total).toBe(0)
  expect((await api.get('/v1/parcels?q=green')).json.pagination.total).toBe(1)

  const items = [{ externalId: 'p-1', name: 'Old books' }]
  const upserted = await api.post('/v1/parcels/batch', { operation: 'upsert', items })
  expect(upserted.json.data).toEqual([{ index: 0, outcome: 'updated', status: 200, id }])
  expect((await api.get(`/v1/parcels/${id}`)).json).toMatchObject({ ownerId: customer.id, urgent: false })
  expect((await api.get('/v1/parcels?urgent=false')).json.pagination.total).toBe(1)
  expect((await api.get('/v1/parcels?q=green')).json.pagination.total).toBe(0)
  expect((await api.get('/v1/parcels?q=boo')).json.pagination.total).toBe(1)
  const again = await api.post('/v1/parcels/batch', { operation: 'upsert', items })
  expect(again.json.unchanged).toBe(1)
})

test('a customer that goes leaves rows of every version, whoever deletes it, and its id stands nowhere a day later', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  const deleters = [releases.api]
  const owners = [await makeCustomer(releases.api), await makeCustomer(releases.api)]
  const ids = await makeParcels(releases.api, 4, (n) => ({ title: `P ${n}`, customerId: owners[n % 2].id }))
  const { service, api, backfill } = await releases.upgradeTo(parcelRenamed)
  deleters.push(api)
  // Of each customer one parcel is of the new version.
  for (const id of ids.slice(2))
    expect((await api.patch(`/v1/parcels/${id}`, { urgent: true })).status).toBe(200)

  for (const [n, deleter] of deleters.entries())
    expect((await deleter.delete(`/v1/customers/${owners[n].id}`)).status).toBe(204)
  const shown = await Promise.all(ids.map(async (id) => (await api.get(`/v1/parcels/${id}`)).json))
  for (const old of shown.slice(0, 2)) {
    expect(old).toMatchObject({ title: expect.any(String), customerId: null })
    expect(old).not.toHaveProperty('ownerId')
  }
  for (const renamed of shown.slice(2)) {
    expect(renamed).toMatchObject({ name: expect.any(String), ownerId: null })
    expect(renamed).not.toHaveProperty('customerId')
  }
  await service.app.maintenance.run()
  const left = await pool.query(
    `select p.body from parcels p where p.body like any($1)
       union all select e.body from events e where e.body like any($1) and e.type not like '%.deleted'`,
    [owners.map(({ id }) => `%${id}%`)],
  )
  expect(left.rows).toEqual([])
  await backfill.run()
  expect(await versionsOf(pool)).toEqual({ 3: 4 })
})

test('an older process keeps what it does not know, and the version', async () => {
  await using releases = await startRelease()
  const [id] = await makeParcels(releases.api, 1, () => ({ title: 'Books', externalId: 'p-1' }))
  const { api } = await releases.upgradeTo(parcelWithUrgency)
  const path = `/v1/parcels/${id}`
  const urgent = await api.patch(path, { urgent: true })
  // It shows what is stored, and finds that nothing changes.
  expect((await releases.api.get(path)).text).toBe(urgent.text)
  expect((await releases.api.patch(path, { title: 'Books' })).text).toBe(urgent.text)

  const patched = await releases.api.patch(path, { title: 'Maps', colour: 'blue' })
  expect(patched.json).toEqual({
    ...urgent.json,
    title: 'Maps',
    colour: 'blue',
    updatedAt: expect.any(String),
  })
  expect(Object.keys(patched.json)).toEqual(Object.keys(urgent.json))
  const items = [{ externalId: 'p-1', tags: ['late'] }]
  const upserted = await releases.api.post('/v1/parcels/batch', { operation: 'upsert', items })
  expect(upserted.json.data[0]).toMatchObject({ outcome: 'updated' })
  expect((await api.get(path)).json).toMatchObject({ urgent: true, title: 'Maps', tags: ['late'] })
  expect((await api.get('/v1/parcels?urgent=true')).json.pagination.total).toBe(1)
  expect(await versionsOf(releases.database.pool)).toEqual({ 2: 1 })
  expect((await api.patch(path, { urgent: false })).json).toMatchObject({ urgent: false, colour: 'blue' })
})

test('what an older process makes is of its version, and waits for its upgrade', async () => {
  await using releases = await startRelease()
  const { service, api, backfill } = await releases.upgradeTo(parcelWithUrgency)
  const { json } = await releases.api.post('/v1/parcels', { title: 'Books' })
  expect(json).not.toHaveProperty('urgent')
  const left = async () => {
    const { text } = await service.withToken(null).get('/metrics')
    return /^deskwire_rows_outdated\{kind="parcel".*\} (\d+)$/m.exec(text)?.[1]
  }
  expect(await left()).toBe('1')
  expect(await backfill.run()).toBe(1)
  expect((await api.get(`/v1/parcels/${json.id}`)).json).toMatchObject({ urgent: false })
  expect(await versionsOf(releases.database.pool)).toEqual({ 2: 1 })
})

test('an older process refuses to decide without a field that is gone, and deletes nevertheless', async () => {
  await using releases = await startRelease()
  const [id] = await makeParcels(releases.api, 1, () => ({ title: 'Books', externalId: 'p-1' }))
  const { api } = await releases.upgradeTo(parcelRenamed)
  const path = `/v1/parcels/${id}`
  const renamed = await api.patch(path, { urgent: true })
  const items = [{ externalId: 'p-1', title: 'Maps' }]
  for (const refused of [
    await releases.api.patch(path, { title: 'Maps' }),
    await releases.api.post('/v1/parcels/batch', { operation: 'upsert', items }),
  ]) {
    expect(refused.status).toBe(503)
    expect(refused.json).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('newer release'),
    })
    expect(refused.headers.get('retry-after')).toBe('1')
  }
  expect((await api.get(path)).text).toBe(renamed.text)
  expect((await releases.api.delete(path)).status).toBe(204)
  expect((await counted(releases.database.pool, releases.api.organizationId))?.live).toBe('0')
})
