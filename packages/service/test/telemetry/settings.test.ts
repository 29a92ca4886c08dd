/** What the environment says of telemetry, and what is refused. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseTraceparent } from '../../src/kernel/telemetry.ts'
import { neededPackages } from '../../src/telemetry/open.ts'
import { readTelemetrySettings } from '../../src/telemetry/settings.ts'

const on = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

test('it is on where an endpoint is named, and nowhere else', () => {
  expect(readTelemetrySettings({})).toEqual({ ok: true, value: null })
  expect(readTelemetrySettings({ OTEL_SERVICE_NAME: 'desk', OTEL_TRACES_SAMPLER: 'nonsense' })).toEqual({
    ok: true,
    value: null,
  })
  expect(readTelemetrySettings({ ...on, OTEL_SDK_DISABLED: 'TRUE' })).toEqual({ ok: true, value: null })
  expect(readTelemetrySettings(on)).toMatchObject({
    value: {
      protocol: 'http/protobuf',
      sampler: 'parentbased_always_on',
      propagators: true,
      maxQueueSize: 2048,
    },
  })
  expect(readTelemetrySettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t/v1/traces' })).toMatchObject({
    value: { endpoint: null, tracesEndpoint: 'https://t/v1/traces' },
  })
})

test.each([
  [
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'grpc',
    '"grpc" is not accepted; it must be one of http/protobuf, http/json',
  ],
  ['OTEL_TRACES_SAMPLER', 'often', '"often" is not accepted; it must be one of always_on'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', '"2" is not accepted; it must be a number from 0 to 1'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0', '"0" is not accepted; it must be a whole number above 0'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '100', 'no larger than OTEL_BSP_MAX_QUEUE_SIZE'],
  ['OTEL_PROPAGATORS', 'b3', '"b3" is not accepted; it must be tracecontext, baggage or none'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', '"zipkin" is not accepted; it must be one of otlp, none'],
  // It may hold a password.
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'user:hush@host',
    'what is set is not accepted; it must be an http or https URL',
  ],
])('%s=%s is refused, in a line that says what is accepted', (name, value, said) => {
  const read = readTelemetrySettings({ ...on, [name]: value })
  expect(read).toEqual({ ok: false, error: expect.stringContaining(said) })
  expect(JSON.stringify(read)).not.toMatch(/hush|\\n/)
})

test('a traceparent is read as W3C writes it, and anything else is none', () => {
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  expect(parseTraceparent(`00-${trace}-${span}-01`)).toEqual({ traceId: trace, spanId: span, sampled: true })
  expect(parseTraceparent(`00-${trace}-${span}-00`)).toMatchObject({ sampled: false })
  // Of a later version, with more behind it.
  expect(parseTraceparent(`01-${trace}-${span}-03-more`)).toMatchObject({ sampled: true })
  const wrong = [
    '',
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
  ]
  expect(wrong.map(parseTraceparent)).toEqual(wrong.map(() => null))
})

test('what telemetry needs is what the manifest names as wanted by those who want it', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const { peerDependencies, peerDependenciesMeta, devDependencies } = manifest
  const ranges = Object.fromEntries(
    Object.entries(neededPackages).map(([name, version]) => [name, `^${version}`]),
  )
  expect(peerDependencies).toEqual(ranges)
  expect(peerDependenciesMeta).toEqual(
    Object.fromEntries(Object.keys(neededPackages).map((name) => [name, { optional: true }])),
  )
  expect(devDependencies).toMatchObject(neededPackages)
})
