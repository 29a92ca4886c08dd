/** What telemetry costs where it is off, counted: not one of its functions runs for a request, and so nothing is left but to see that it is off. */
import { Session } from 'node:inspector/promises'
import { expect, test } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { startReceiver } from '../../../testbed/receiver.ts'
import { runDue } from '../../../testbed/run-due.ts'
import { testService } from '../../../testbed/service.ts'
import { nobodyObserves } from '../../src/delivery/model.ts'
import { observeAttempts } from '../../src/delivery/queue/trace-attempts.ts'
import { kinds } from '../../src/desk/index.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'
import type { Span, Telemetry } from '../../src/kernel/telemetry.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createWorker } from '../../src/roles/worker.ts'

/** All that knows of traces and figures, and is in the way of requests and attempts. */
const files = [
  '/src/telemetry/',
  '/src/kernel/telemetry.ts',
  '/trace-requests.ts',
  '/trace-attempts.ts',
  '/observe-statements.ts',
]

/** Functions of these files that run meanwhile, and how often. */
async function countCalls(work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    const calls = result
      .filter(({ url }) => files.some((file) => url.includes(file)))
      .flatMap(({ functions }) => functions)
      .map(({ functionName, ranges }) => [functionName, ranges[0]?.count ?? 0] as const)
    return new Map(calls.filter(([, count]) => count > 0))
  } finally {
    session.disconnect()
  }
}

const authority = createAuthority()

/** A service and its worker, which are told of this telemetry, and a receiver. */
async function installation(telemetry: Telemetry | null) {
  const receiver = await startReceiver({ ...authority.issue(['127.0.0.1']), host: '127.0.0.1' })
  const settings = {
    ...deliverySettings,
    trustedTargets: parseNetworks('127.0.0.1/32') ?? noNetworks,
    targetCa: authority.ca,
  }
  const service = await testService({ settings, telemetry })
  const { api, app, database } = service
  const observer = telemetry === null ? nobodyObserves : observeAttempts(telemetry, nobodyObserves)
  const { pool } = database
  const log = app.server.log
  const worker = createWorker({ pool, clock: systemClock, log, kinds, settings, observer, telemetry })
  await makeWebhook(api, { url: `https://127.0.0.1:${receiver.port}/`, events: ['customer.created'] })
  return {
    receiver,
    /** A write, a change, a list and a sync, and the attempt to deliver what was written. */
    async useAll(): Promise<void> {
      const { json: customer } = await api.post('/v1/customers', { name: 'Ada' })
      expect((await api.patch(`/v1/customers/${customer.id}`, { name: 'Grace' })).status).toBe(200)
      expect((await api.get('/v1/customers?q=grace')).status).toBe(200)
      expect((await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00.000Z')).status).toBe(200)
      await runDue(worker.engine)
    },
    async [Symbol.asyncDispose]() {
      await worker.close()
      await receiver.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

test('where telemetry is off none of it runs for a request or an attempt; where it is on, the same work runs it', async () => {
  await using off = await installation(null)
  const none = await countCalls(() => off.useAll())
  expect([...none]).toEqual([])
  expect(off.receiver.requests).toHaveLength(1)

  const begun: string[] = []
  const measured: string[] = []
  const span: Span = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, set() {}, end() {} }
  const telemetry: Telemetry = {
    tracer: {
      begin(name) {
        begun.push(name)
        return span
      },
      current: null,
      within: (_span, work) => work(),
    },
    meter: {
      histogram: (name) => () => void measured.push(name),
      counter: () => () => {},
      upDownCounter: () => () => {},
      observe() {},
    },
    sendsTraceparent: true,
    logFields: () => ({}),
    publish() {},
  }
  await using on = await installation(telemetry)
  begun.length = 0
  measured.length = 0
  const some = await countCalls(() => on.useAll())
  expect(some.get('begin')).toBe(4)
  // V8 may have fewer than there were of a method that is made for each statement, and never more than none where there were none.
  expect(some.get('ended')).toBeGreaterThanOrEqual(1)
  const statements = measured.filter((name) => name === 'db.client.operation.duration')
  expect(statements.length).toBeGreaterThanOrEqual(5)
  expect(some.get('attempted')).toBe(1)
  expect(begun.filter((name) => name.startsWith('deliver '))).toEqual(['deliver customer.created'])
  expect(on.receiver.requests.map(({ headers }) => headers.traceparent)).toEqual([span.traceparent])
})
