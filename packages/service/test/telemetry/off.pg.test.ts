/** What telemetry costs where it is off, counted: not one of its functions runs for a request, and so nothing is left but to see that it is off. */
import { Session } from 'node:inspector/promises'
import { expect, test } from 'vitest'
import type { Span, Telemetry } from '../../src/kernel/telemetry.ts'
import { type Api, testService } from '../harness/service.ts'

/** All that knows of traces and figures, and is in the way of requests. */
const files = ['/src/telemetry/', '/src/kernel/telemetry.ts', '/trace-requests.ts', '/observe-statements.ts']

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

/** A write, a change, a list and a sync. */
async function useAll(api: Api): Promise<void> {
  const { json: customer } = await api.post('/v1/customers', { name: 'Ada' })
  expect((await api.patch(`/v1/customers/${customer.id}`, { name: 'Grace' })).status).toBe(200)
  expect((await api.get('/v1/customers?q=grace')).status).toBe(200)
  expect((await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00.000Z')).status).toBe(200)
}

test('where telemetry is off none of it runs for a request; where it is on, the same requests run it', async () => {
  await using off = await testService()
  const none = await countCalls(() => useAll(off.api))
  expect([...none]).toEqual([])

  const span: Span = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, set() {}, end() {} }
  const telemetry: Telemetry = {
    tracer: { begin: () => span, current: null, within: (_span, work) => work() },
    meter: {
      histogram: () => () => {},
      counter: () => () => {},
      upDownCounter: () => () => {},
      observe() {},
    },
    sendsTraceparent: true,
    logFields: () => ({}),
    publish() {},
  }
  await using on = await testService({ telemetry })
  const some = await countCalls(() => useAll(on.api))
  expect(some.get('begin')).toBe(4)
  expect(some.get('ended')).toBeGreaterThanOrEqual(4)
})
