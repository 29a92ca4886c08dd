/** Which spans are kept, and what goes on where one is a part of another. Nothing is exported: no batch is due. */
import { expect, test } from 'vitest'
import { createTelemetry } from '../../src/telemetry/sdk.ts'
import { readTelemetrySettings } from '../../src/telemetry/settings.ts'

const remote = (flags: '00' | '01') => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`

function telemetryWith(environment: Readonly<Record<string, string>>) {
  const settings = readTelemetrySettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
    OTEL_METRICS_EXPORTER: 'none',
    ...environment,
  })
  if (!settings.ok || settings.value === null) throw new Error('telemetry is off')
  return createTelemetry('api', settings.value)
}

const begin = (
  { tracer }: ReturnType<typeof telemetryWith>,
  parent: string | null,
  link: string | null = null,
) => tracer.begin('work', { kind: 'internal', parent, link }).traceparent

test('what is kept is decided where a trace begins, and a link decides nothing', () => {
  const never = telemetryWith({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
  expect(begin(never, null)).toMatch(/-00$/)
  expect(begin(never, null, remote('01'))).toMatch(/-00$/)
  expect(begin(never, remote('01'))).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
  const always = telemetryWith({})
  expect(begin(always, null)).toMatch(/-01$/)
  expect(begin(always, null, remote('00'))).toMatch(/-01$/)
  expect(begin(always, null, remote('01'))).not.toContain('0af7651916cd43dd8448eb211c80319c')
  expect(begin(always, remote('00'))).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/)
  // What names no trace begins one.
  expect(begin(always, 'nonsense')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})

test('a ratio keeps the part that it says', () => {
  const some = telemetryWith({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' })
  const kept = Array.from({ length: 4_000 }, () => begin(some, null)).filter((text) => text.endsWith('-01'))
  expect(kept.length).toBeGreaterThan(800)
  expect(kept.length).toBeLessThan(1_200)
})

test('where no traces are exported, or the propagator is off, receivers are sent none', () => {
  expect(telemetryWith({}).sendsTraceparent).toBe(true)
  expect(telemetryWith({ OTEL_PROPAGATORS: 'none' }).sendsTraceparent).toBe(false)
  expect(telemetryWith({ OTEL_TRACES_EXPORTER: 'none' }).sendsTraceparent).toBe(false)
})

test('work is a part of what it was begun in, also when another ends meanwhile', async () => {
  const { tracer, logFields } = telemetryWith({})
  const [one, other] = [1, 2].map(() => tracer.begin('work', { kind: 'internal', parent: null }))
  const seen = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return [tracer.current, logFields().trace_id]
  }
  const both = [tracer.within(one ?? null, seen), tracer.within(other ?? null, seen)]
  expect(tracer.current).toBeNull()
  expect(logFields()).toEqual({})
  expect(await Promise.all(both)).toEqual([one, other].map((span) => [span, span?.traceparent.slice(3, 35)]))
  expect(tracer.within(one ?? null, () => tracer.within(null, () => tracer.current))).toBeNull()
})
