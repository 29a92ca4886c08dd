/** `DESKWIRE_SUMMARIZER=off`: nobody summarizes but the action. */
import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { converse } from '../../../testbed/summaries.ts'
import { readConfig } from '../../src/config.ts'
import { summarySettingsOf } from '../../src/roles/delivery-settings.ts'
import { startWorkers } from '../../src/roles/worker.ts'

let service: TestService
const threads: Worker[] = []
const begun = (thread: Worker) => threads.push(thread)
beforeEach(async () => {
  service = await testService()
  threads.length = 0
  process.on('worker', begun)
})
afterEach(async () => {
  process.off('worker', begun)
  await service[Symbol.asyncDispose]()
})

function workerWith(environment: Readonly<Record<string, string>>) {
  const config = readConfig({ DESKWIRE_SUMMARY_DELAY: '1ms', ...environment })
  if (!config.ok) throw new Error(config.error)
  const database = { name: null, address: service.database.connection, ready: Promise.resolve() }
  return startWorkers([database], {
    log: service.app.server.log as Logger,
    settings: deliverySettings,
    summaries: summarySettingsOf(config.value),
  })
}

async function resolved(): Promise<string> {
  const { id } = await converse(service.api, ['Where is my parcel?', 'It is on its way.'])
  expect((await service.api.post(`/v1/conversations/${id}/resolve`, undefined)).status).toBe(200)
  return id
}

const summaryOf = async (id: string) => (await service.api.get(`/v1/conversations/${id}`)).json.summary

test('a worker runs, starts no thread for them, and leaves summaries to the action', async () => {
  const id = await resolved()
  const worker = workerWith({ DESKWIRE_SUMMARIZER: 'off' })
  try {
    await eventually('the worker tells its figures', async () =>
      (await worker.registers[0]?.metrics())?.includes('deskwire_'),
    )
    expect(threads).toEqual([])
    const written = await service.api.post(`/v1/conversations/${id}/summarize`, { summary: 'Ours.' })
    expect([written.status, written.json.summary]).toEqual([200, 'Ours.'])
  } finally {
    await worker.stop()
  }
  expect(threads).toEqual([])
})

test('one that is on writes what was resolved while it was off', async () => {
  const id = await resolved()
  const off = workerWith({ DESKWIRE_SUMMARIZER: 'off' })
  await off.stop()
  expect(await summaryOf(id)).toBeNull()
  const on = workerWith({ DESKWIRE_SUMMARIZER: 'on' })
  try {
    await eventually('its thread is there', () => threads.length === 1)
    await eventually('the summary is there', async () => (await summaryOf(id)) !== null)
  } finally {
    await on.stop()
  }
})

test('the key of an endpoint may stay where it is', () => {
  const config = readConfig({ DESKWIRE_SUMMARIZER_KEY: 'sk-1', DESKWIRE_SUMMARIZER: 'off' })
  expect(config.ok && summarySettingsOf(config.value)).toBeNull()
})
