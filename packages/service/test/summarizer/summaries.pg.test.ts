/** From a resolution to its summary: when, once, and for which resolution. */
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { dataOf, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import {
  act,
  announcements,
  converse,
  jobsOf,
  read,
  resolved,
  say,
  summaryDelay,
  testSummarizer,
} from '../../../testbed/summaries.ts'
import { deliveriesChannel, streamChannel } from '../../src/journal/notifier.ts'

test('is written when the delay is over, and announced with the bytes of the GET', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  await makeWebhook(api, { events: ['conversation.summarized'] })
  const { id, resolvedAt, updatedAt } = await resolved(api, [
    'Where is my parcel? It should have come on Monday.',
    'The parcel was sent back, we send it again today.',
  ])

  clock.advance(summaryDelay - 1)
  expect(await summarizer.engine.runDue()).toBe(0)
  expect(await read(api, id)).toMatchObject({ summary: null, summarizedAt: null, updatedAt })
  clock.advance(1)
  expect(await summarizer.engine.runDue()).toBe(1)

  const after = await read(api, id)
  expect(after.summary).toBe(
    'Customer: Where is my parcel? It should have come on Monday.\nTeammate: The parcel was sent back, we send it again today.',
  )
  expect(after).toMatchObject({ status: 'resolved', resolvedAt })
  expect(Date.parse(after.summarizedAt) - Date.parse(resolvedAt)).toBe(summaryDelay)
  expect(after.updatedAt > updatedAt).toBe(true)

  const { engine, sent } = testEngine(service, clock)
  await engine.runDue()
  expect(sent.map(dataOf)).toEqual([(await api.get(`/v1/conversations/${id}`)).text])

  clock.advance(30 * minute)
  expect(await summarizer.engine.runDue()).toBe(0)
  expect(await announcements(service, api, id)).toBe(1)
  expect(await jobsOf(service)).toEqual([])
})

test('workers and readers that wait are told of it', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, database } = service
  await using summarizer = testSummarizer(service, clock)
  await makeWebhook(api, { events: ['conversation.summarized'] })
  await resolved(api)
  clock.advance(summaryDelay)
  const client = new Client(database.connection)
  await client.connect()
  const told: string[] = []
  client.on('notification', ({ channel, payload }) => told.push(`${channel} ${payload}`))
  for (const channel of [deliveriesChannel, streamChannel]) await client.query(`listen ${channel}`)
  await summarizer.engine.runDue()
  // News of what came before may still be on its way.
  const notification = [`${deliveriesChannel} due `, `${streamChannel} ${api.organizationId}:conversation`]
  await eventually('both are told', () =>
    notification.every((line) => told.some((heard) => heard.startsWith(line))),
  )
  await client.end()
})

test('a message after the resolution is part of it; a change of anything else is kept', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const { id } = await resolved(api, [])
  await say(api, id, 'Your refund of ninety euros has been sent.', 'teammate')
  await api.patch(`/v1/conversations/${id}`, { tags: ['refund'], subject: 'A refund' })
  clock.advance(summaryDelay)
  await summarizer.engine.runDue()
  expect(await read(api, id)).toMatchObject({
    summary: 'Teammate: Your refund of ninety euros has been sent.',
    tags: ['refund'],
    subject: 'A refund',
  })
})

test('without a word said, the subject is the summary, or a plain sentence', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const named = await resolved(api, [])
  const { id } = (
    await api.post('/v1/conversations', { customerId: (await makeCustomer(api)).id, channel: 'phone' })
  ).json
  await say(api, id, '?!', 'customer')
  await act(api, id, 'resolve')
  clock.advance(summaryDelay)
  await summarizer.engine.runDue()
  expect((await read(api, named.id)).summary).toBe('The parcel')
  expect((await read(api, id)).summary).toBe('The conversation has no messages with words in them.')
})

test('reopened before the delay is over: nothing is written', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const byAction = await resolved(api)
  const byMessage = await resolved(api)
  await act(api, byAction.id, 'reopen')
  await say(api, byMessage.id, 'One more thing', 'customer')
  clock.advance(10 * summaryDelay)
  expect(await summarizer.engine.runDue()).toBe(0)
  for (const { id } of [byAction, byMessage]) {
    expect(await read(api, id)).toMatchObject({ status: 'open', summary: null })
    expect(await announcements(service, api, id)).toBe(0)
  }
})

test('resolved again: the delay counts anew, and each resolution has a summary of its own', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const { id } = await resolved(api, ['Where is my parcel, please?'])
  clock.advance(summaryDelay - 1)
  await say(api, id, 'The parcel has arrived, thank you.', 'customer')
  await act(api, id, 'resolve')
  clock.advance(summaryDelay - 1)
  expect(await summarizer.engine.runDue()).toBe(0)
  clock.advance(1)
  await summarizer.engine.runDue()
  const first = await read(api, id)
  expect(first.summary).toContain('The parcel has arrived, thank you.')

  await act(api, id, 'reopen')
  expect(await read(api, id)).toMatchObject({ summary: null, summarizedAt: null })
  await act(api, id, 'resolve')
  clock.advance(summaryDelay)
  await summarizer.engine.runDue()
  const second = await read(api, id)
  expect(second.summary).toBe(first.summary)
  expect(second.summarizedAt > first.summarizedAt).toBe(true)
  expect(await announcements(service, api, id)).toBe(2)
})

test('an AI outside was quicker: its summary stays', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const { id } = await resolved(api)
  await act(api, id, 'summarize', { summary: 'Written outside.' })
  clock.advance(summaryDelay)
  expect(await summarizer.engine.runDue()).toBe(0)
  expect((await read(api, id)).summary).toBe('Written outside.')
  expect(await announcements(service, api, id)).toBe(1)
})

test('a delay longer than there has been time leaves summaries to others', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock, { delay: 999_999_999 * 24 * 60 * minute })
  const { id } = await resolved(api)
  clock.advance(1_000 * minute)
  expect(await summarizer.engine.runDue()).toBe(0)
  expect((await read(api, id)).summary).toBe(null)
})

test('a message of another organization is never read', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  await using summarizer = testSummarizer(service, clock)
  const apis = [service.api, await service.newOrganization(), await service.newOrganization()]
  const made = await Promise.all(
    apis.map(async (api, n) => ({
      api,
      n,
      ...(await resolved(api, [`This belongs to number ${n} alone.`])),
    })),
  )
  clock.advance(summaryDelay)
  expect(await summarizer.engine.runDue()).toBe(3)
  for (const { api, n, id } of made)
    expect((await read(api, id)).summary).toBe(`Customer: This belongs to number ${n} alone.`)
})

test('more messages than are read: the first and the last are', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await using summarizer = testSummarizer(service, clock)
  const { id } = await converse(api, ['My kettle leaks onto the table.'])
  const filler = (n: number) =>
    say(api, id, `Line${n} nothing${n} happens${n} here${n} again${n}.`, 'teammate')
  clock.advance(1)
  await Promise.all(Array.from({ length: 90 }, (_, n) => filler(n)))
  clock.advance(1)
  await say(api, id, 'Your kettle is repaired, and leaks no more.', 'teammate')
  await act(api, id, 'resolve')
  clock.advance(summaryDelay)
  await summarizer.engine.runDue()
  const { summary } = await read(api, id)
  expect(summary).toContain('Customer: My kettle leaks onto the table.')
  expect(summary).toContain('Your kettle is repaired, and leaks no more.')
})
