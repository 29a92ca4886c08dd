/** What clients see after the service was told that its database went back in time. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { beginning, drain, syncPage } from '../../../testbed/drain.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { markRestored } from '../../src/backup/restore.ts'
import { lostSpanMargin } from '../../src/journal/epoch.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'

const minute = 60_000
const iso = (milliseconds: number) => new Date(milliseconds).toISOString()
const streams = ['/v1/customers', '/v1/tickets', '/v1/changes']

async function asked(api: Api, path: string, query: string): Promise<string> {
  const { status, json } = await api.get(`${path}?${query}`)
  return status === 200 ? 'page' : `${status} ${json.code}`
}

test('watermarks from the span that was lost are refused, to the millisecond; others are not', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const restoredTo = Date.parse((await makeCustomer(api)).updatedAt)
  clock.advance(10 * minute)
  await markRestored(service.database.pool, clock)
  const restoredAt = clock.now() + lostSpanMargin

  for (const path of streams) {
    for (const lost of [restoredTo + 1, restoredTo + 5 * minute, restoredAt]) {
      expect(await asked(api, path, `updatedAfter=${iso(lost)}`)).toBe('410 cursor_too_old')
      // A reader that would wait is told at once.
      expect(await asked(api, path, `updatedAfter=${iso(lost)}&wait=50`)).toBe('410 cursor_too_old')
    }
    for (const fine of [restoredTo - minute, restoredTo, restoredAt + 1, restoredAt + minute]) {
      expect(await asked(api, path, `updatedAfter=${iso(fine)}`)).toBe('page')
    }
    expect(await asked(api, path, beginning)).toBe('page')
  }
  const { json } = await api.get(`/v1/customers?updatedAfter=${iso(restoredAt)}`)
  expect(json.detail).toMatch(/restored.*Empty your copy and start again with updatedAfter=1970/)
})

test('a reader that waits meanwhile is told: by cursor 410, from a watermark that was not lost what comes', async () => {
  await using service = await testService()
  const { api } = service
  const { updatedAt } = await makeCustomer(api)
  const { nextCursor } = (await drain(api, '/v1/customers', beginning)).last.pagination
  const byCursor = api.get(`/v1/customers?cursor=${nextCursor}&wait=50`)
  const fromWatermark = api.get(`/v1/customers?updatedAfter=${updatedAt}&wait=50`)
  await eventually('both wait', () => service.app.readers.waiting === 2)
  await markRestored(service.database.pool, systemClock)
  const { status, json } = await byCursor
  expect([status, json.code]).toEqual([410, 'cursor_too_old'])
  const made = await makeCustomer(api)
  expect((await fromWatermark).json.data).toEqual([made])
})

test('nothing new gets a stamp of the lost span, whatever the clock does then, and syncs go on from there', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await makeCustomer(api)
  clock.advance(10 * minute)
  await markRestored(service.database.pool, clock)
  const restoredAt = clock.now() + lostSpanMargin
  const fresh = await drain(api, '/v1/customers', beginning)

  clock.advance(-60 * minute)
  const made = await makeCustomer(api)
  expect(Date.parse(made.updatedAt)).toBe(restoredAt + 1)
  const { nextCursor } = fresh.last.pagination
  expect((await syncPage(api, '/v1/customers', `cursor=${nextCursor}`)).data).toEqual([made])
  expect((await syncPage(api, '/v1/customers', `updatedAfter=${made.updatedAt}`)).data).toEqual([])
})

test('spans of several restores are all refused, and what was between them is not', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const spans: (readonly [from: number, to: number])[] = []
  for (let n = 0; n < 3; n++) {
    const { updatedAt } = await makeCustomer(api)
    clock.advance(10 * minute)
    await markRestored(service.database.pool, clock)
    spans.push([Date.parse(updatedAt), clock.now() + lostSpanMargin])
    clock.advance(10 * minute)
  }
  for (const [from, to] of spans) {
    expect(await asked(api, '/v1/customers', `updatedAfter=${iso(from)}`)).toBe('page')
    expect(await asked(api, '/v1/customers', `updatedAfter=${iso(from + 1)}`)).toBe('410 cursor_too_old')
    expect(await asked(api, '/v1/customers', `updatedAfter=${iso(to)}`)).toBe('410 cursor_too_old')
    expect(await asked(api, '/v1/customers', `updatedAfter=${iso(to + 1)}`)).toBe('page')
  }
})

test('cursors of every earlier life are refused, and each life has an epoch of its own', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await makeCustomer(api)
  const cursors: string[] = []
  const epochs = new Set<number>()
  for (let began = 0; began < 4; began++) {
    for (const cursor of cursors)
      expect(await asked(api, '/v1/customers', `cursor=${cursor}`)).toBe('410 cursor_too_old')
    const { nextCursor } = (await drain(api, '/v1/customers', beginning)).last.pagination
    expect(await asked(api, '/v1/customers', `cursor=${nextCursor}`)).toBe('page')
    cursors.push(nextCursor)
    // On a clock that stands still.
    epochs.add((await markRestored(service.database.pool, clock)).epoch)
  }
  expect(epochs.size).toBe(4)
})

test('stamps that were ahead of the restore lose a margin, and go on after it', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const made = await makeCustomer(api)
  const restoredTo = Date.parse(made.updatedAt)
  clock.advance(-10 * minute)
  await markRestored(service.database.pool, clock)
  expect(await asked(api, '/v1/customers', `updatedAfter=${iso(clock.now())}`)).toBe('page')
  expect(await asked(api, '/v1/customers', `updatedAfter=${made.updatedAt}`)).toBe('page')
  expect(await asked(api, '/v1/customers', `updatedAfter=${iso(restoredTo + 1)}`)).toBe('410 cursor_too_old')
  const next = await makeCustomer(api)
  expect(Date.parse(next.updatedAt)).toBe(restoredTo + lostSpanMargin + 1)
})

test('every organization is told', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const apis = [service.api, await service.newOrganization(), await service.newOrganization()]
  const cursors = []
  for (const api of apis) cursors.push((await syncPage(api, '/v1/tickets', beginning)).pagination.nextCursor)
  clock.advance(minute)
  expect(await markRestored(service.database.pool, clock)).toMatchObject({ organizations: 3 })
  for (const [n, api] of apis.entries()) {
    expect(await asked(api, '/v1/tickets', `cursor=${cursors[n]}`)).toBe('410 cursor_too_old')
    expect(await asked(api, '/v1/tickets', `updatedAfter=${iso(clock.now())}`)).toBe('410 cursor_too_old')
  }
})

test('links and sessions of the backup are over: one that was used or ended since is not live again', async () => {
  await using service = await testService()
  const { api } = service
  const nobody = service.withToken(null)
  const link = async () => {
    const { json } = await api.post('/v1/console-links', { scopes: ['customers:read'] })
    return new URL(json.url).hash.replace('#link=', '')
  }
  const [open, used] = [await link(), await link()]
  const { json } = await nobody.post('/v1/console-links/exchange', { link: used })
  const session = service.withToken(json.token)
  expect((await session.get('/v1/customers')).status).toBe(200)
  await markRestored(service.database.pool, systemClock)
  expect((await nobody.post('/v1/console-links/exchange', { link: open })).status).toBe(404)
  const told = await session.get('/v1/customers')
  expect([told.status, told.json.code]).toEqual([401, 'key_expired'])
  expect((await api.get('/v1/customers')).status).toBe(200)
})
