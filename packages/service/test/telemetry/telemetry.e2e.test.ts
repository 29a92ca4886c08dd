/** Telemetry of real processes, against an OTLP receiver: one trace from a request to each attempt, and nothing where it is off. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Hooks, startHooks } from '../../../testbed/arrivals.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type OtlpSink, type SinkSpan, startSink } from '../../../testbed/otlp-sink.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, type Environment, socketUrl } from '../../../testbed/services.ts'
import { neededPackages } from '../../src/telemetry/open.ts'

const preloaded = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./watch-loading.fixture.mjs', import.meta.url))}`,
}

/** A service of role all on a database of its own, and an endpoint that it delivers to. */
async function desk(hooks: Hooks, environment: Environment, flags: readonly string[] = []) {
  const service = await testService()
  const services = createServices()
  const database = ['--database-url', socketUrl(service.database.connection)]
  const started = await services.serve(['--role', 'all', '--retry-delays', '1s', ...flags, ...database], {
    ...hooks.settings,
    ...preloaded,
    ...environment,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  const { token } = service.api
  await hooks.register({ url: started.url, token }, 'hook', ['customer.created'])
  return {
    service,
    started,
    async post(path: string, body: unknown, headers: Record<string, string> = {}) {
      const answer = await fetch(`${started.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: answer.status, text: await answer.text() }
    },
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

const exporting = (sink: OtlpSink, more: Environment = {}): Environment => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_METRIC_EXPORT_INTERVAL: '500',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  ...more,
})

/** The only span that is so named and passes. */
const spanOf = (sink: OtlpSink, name: string, passes: (span: SinkSpan) => boolean = () => true) =>
  eventually(
    `there is a span ${name}`,
    () => sink.spans.find((span) => span.name === name && passes(span)) ?? null,
  )

const below = (parent: SinkSpan) => (span: SinkSpan) => span.parentSpanId === parent.spanId

test('one trace leads from a request through its commit to each attempt, and on to the receiver', async () => {
  await using hooks = await startHooks()
  await using sink = await startSink()
  await using it = await desk(hooks, exporting(sink), ['--log-level', 'debug'])
  hooks.script('hook', (nth) => (nth === 1 ? 500 : 200))
  const theirs = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
  const created = await it.post(
    '/v1/customers',
    { name: 'Ada' },
    { traceparent: `00-${theirs.traceId}-${theirs.spanId}-01` },
  )
  expect(created.status).toBe(201)
  await eventually('both attempts arrive', () => hooks.of('hook').length === 2)

  const request = await spanOf(sink, 'POST /v1/customers')
  expect(request).toMatchObject({
    kind: 2,
    failed: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/customers',
      'http.response.status_code': 201,
    },
    resource: {
      'service.name': 'deskwire',
      'deskwire.process': 'api',
      'deployment.environment.name': 'test',
    },
  })
  expect(request.resource['service.version']).toMatch(/^\d+\.\d+\.\d+/)
  // The client's own trace goes on beside it.
  expect(request.parentSpanId ?? '').toBe('')
  expect(request.traceId).not.toBe(theirs.traceId)
  expect(request.links).toMatchObject([theirs])

  const commit = await spanOf(sink, 'commit', below(request))
  await spanOf(sink, 'postgresql commit', below(commit))
  const attemptAt = (n: number) =>
    spanOf(sink, 'deliver customer.created', ({ attributes }) => attributes['deskwire.attempt'] === n)
  const [first, second] = [await attemptAt(1), await attemptAt(2)]
  for (const attempt of [first, second]) {
    expect(attempt).toMatchObject({ traceId: request.traceId, parentSpanId: commit.spanId, kind: 3 })
    expect(attempt.resource['deskwire.process']).toBe('worker')
  }
  expect(first).toMatchObject({
    failed: true,
    attributes: { 'error.type': 'non_2xx', 'http.response.status_code': 500 },
  })
  expect(second).toMatchObject({ failed: false, attributes: { 'http.response.status_code': 200 } })
  expect(hooks.of('hook').map(({ traceparent }) => traceparent)).toEqual(
    [first, second].map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  )
  // No path of a receiver, no body, no key.
  expect(JSON.stringify(sink.spans)).not.toMatch(/\/hook|Ada|dwk_/)
  const answered = it.started.output.all
    .split('\n')
    .find(
      (line) =>
        line.includes('"answered"') && line.includes('"method":"POST"') && line.includes('/v1/customers"'),
    )
  expect(JSON.parse(answered ?? '')).toMatchObject({ trace_id: request.traceId, span_id: request.spanId })

  const figure = (name: string, passes: (attributes: object) => boolean = () => true) =>
    eventually(`there is a figure ${name}`, () => {
      const told = sink.figures.filter((one) => one.name === name)
      return told.find(({ points }) => points.some(({ attributes }) => passes(attributes))) ?? null
    })
  const ofRequests = await figure('http.server.request.duration', (attributes) =>
    Object.entries({
      'http.route': '/v1/customers',
      'http.response.status_code': 201,
      'url.scheme': 'http',
    }).every(([name, value]) => (attributes as Record<string, unknown>)[name] === value),
  )
  expect(ofRequests.unit).toBe('s')
  await figure('db.client.operation.duration', (attributes) =>
    JSON.stringify(attributes).includes('"db.operation.name":"claim_endpoint'),
  )
  await figure('db.client.connection.count')
  await figure('messaging.client.sent.messages', (attributes) =>
    JSON.stringify(attributes).includes('non_2xx'),
  )
  await figure('deskwire_delivery_attempts_total', (attributes) => 'outcome' in attributes)
  await figure('deskwire_deliveries_due')

  // What a thread answers is a part of the same trace.
  const items = Array.from({ length: 200 }, (_, n) => ({ name: `Customer ${n}`, company: 'x'.repeat(180) }))
  const answer = await it.post('/v1/customers/batch', { items })
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"created"') })
  const batch = await spanOf(sink, 'POST /v1/customers/batch')
  const offloaded = await spanOf(sink, 'POST /v1/customers/batch, offloaded', below(batch))
  expect(offloaded.resource['deskwire.process']).toBe('bulk')
  const together = await spanOf(sink, 'commit', below(offloaded))
  expect((await spanOf(sink, 'deliver customer.created', below(together))).traceId).toBe(batch.traceId)

  expect(it.started.output.all).toContain('asked for @opentelemetry/sdk-trace')
  expect((await it.started.end('SIGTERM')).code).toBe(0)
})

test('a stop exports what is left, in protobuf unless told', async () => {
  await using hooks = await startHooks()
  await using sink = await startSink()
  const patient = {
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
    OTEL_METRIC_EXPORT_INTERVAL: '600000',
  }
  await using it = await desk(hooks, exporting(sink, patient))
  expect((await it.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
  await eventually('it arrives', () => hooks.of('hook').length === 1)
  expect(sink.requests).toEqual([])
  expect((await it.started.end('SIGTERM')).code).toBe(0)
  const traceId = Buffer.from(hooks.of('hook')[0]?.traceparent?.slice(3, 35) ?? '', 'hex')
  const exported = sink.requests.filter(({ path }) => path === '/v1/traces')
  expect(exported.map(({ type }) => type)).toEqual(exported.map(() => 'application/x-protobuf'))
  // Of the API and of the worker.
  expect(exported.filter(({ body }) => body.includes(traceId))).toHaveLength(2)
  expect(
    sink.requests.some(({ path, body }) => path === '/v1/metrics' && body.includes('deskwire_build_info')),
  ).toBe(true)
})

test('a collector that takes everything and never answers holds up nothing, and a stop for seconds at most', async () => {
  await using hooks = await startHooks()
  await using sink = await startSink({ hangs: true })
  await using it = await desk(
    hooks,
    exporting(sink, { OTEL_BSP_MAX_QUEUE_SIZE: '8', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4' }),
  )
  const answers = Array.from({ length: 50 }, (_, n) => it.post('/v1/customers', { name: `Customer ${n}` }))
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 201))
  await eventually('all arrive', () => hooks.of('hook').length === 50)
  await eventually('it was exported to', () => sink.requests.length > 0)
  const began = performance.now()
  expect((await it.started.end('SIGTERM')).code).toBe(0)
  expect(performance.now() - began).toBeLessThan(12_000)
})

test('where it is off nothing of it is loaded, kept or sent, and nothing of MCP where that is off', async () => {
  await using hooks = await startHooks()
  await using it = await desk(hooks, { DESKWIRE_MCP: 'off' })
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  expect((await it.post('/v1/customers', { name: 'Ada' }, { traceparent })).status).toBe(201)
  await eventually('it arrives', () => hooks.of('hook').length === 1)
  expect(hooks.of('hook')[0]?.traceparent).toBeUndefined()
  const { rows } = await it.service.database.pool.query('select e.trace_context from events e')
  expect(rows).toEqual([{ trace_context: null }])
  expect((await it.post('/mcp', {})).status).toBe(404)
  expect((await it.started.end('SIGTERM')).code).toBe(0)
  expect(it.started.output.all).not.toContain('asked for')
})

test('what it needs and is not installed is named in one line, with what installs it', async () => {
  await using services = createServices()
  const { code, stderr } = await services.start(['serve', '--port', '0'], {
    ...preloaded,
    TEST_TELEMETRY_MISSING: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  }).ended
  expect(code).toBe(2)
  const [line, ...others] = stderr.split('\n').filter((text) => text !== '' && !text.startsWith('asked for'))
  expect(others).toEqual([])
  expect(line).toMatch(
    /^deskwire: OTEL_EXPORTER_OTLP_ENDPOINT is set, and the libraries for it are not installed/,
  )
  for (const [name, version] of Object.entries(neededPackages)) expect(line).toContain(`${name}@${version}`)
})
