/**
 * `npm run check -- collector`: exports over OTLP to Rotel, an independent collector from PyPI. A service creates a
 * customer and delivers the event, and the collector's output is checked.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../packages/sdk/src/index.ts'
import { newToken } from '../packages/service/src/auth/token.ts'
import { startHooks } from '../packages/testbed/arrivals.ts'
import { freePort, untilListening } from '../packages/testbed/loopback.ts'
import { startProgram } from '../packages/testbed/program.ts'
import { serve } from '../packages/testbed/services.ts'
import { installPython } from '../tools/python.ts'
import { report } from './report.ts'
import { logged } from './service-process.ts'

const release = '0.0.1a15'
const protocols = ['http/protobuf', 'http/json'] as const
/** Of one trace. */
const spans = ['POST /v1/customers', 'commit', 'deliver customer.created'] as const
const figures = ['http.server.request.duration', 'messaging.client.sent.messages', 'deskwire_deliveries_due']
/** In milliseconds, for the collector's output. */
const patience = 60_000

const library = join(dirname(installPython('deskwire-collector', [`rotel==${release}`])), 'lib')
const [python = ''] = readdirSync(library)
const program = join(library, python, 'site-packages/rotel/rotel-agent')
for (const protocol of protocols) await tryProtocol(protocol)

async function tryProtocol(protocol: (typeof protocols)[number]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-collector-'))
  const receiver = await startHooks()
  const collector = await startCollector(scratch)
  const apiKey = newToken()
  const service = await serve(['--data-dir', join(scratch, 'data')], {
    settings: {
      DESKWIRE_BOOTSTRAP_KEY: apiKey,
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
      DESKWIRE_TARGET_CA: receiver.ca,
      DESKWIRE_LOG_LEVEL: 'warn',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    },
  })
  try {
    const { customers, webhooks } = createClient({ baseUrl: `${service.url}/v1`, apiKey })
    await webhooks.create({ url: receiver.url, events: ['customer.created'] })
    await customers.create({ name: 'Ada' })
    const isThere = () => [...spans, ...figures].every((name) => collector.said().includes(name))
    const until = performance.now() + patience
    while (!isThere() && performance.now() < until) await delay(200)
  } finally {
    await service.end('SIGTERM')
    await collector.end('SIGTERM')
    await receiver[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  const said = collector.said()
  const trace = spansIn(said).find(({ name }) => name === spans[0])?.trace
  const inTrace = new Set(spansIn(said).flatMap(({ name, trace: of }) => (of === trace ? [name] : [])))
  const missing = [
    ...spans.filter((name) => !inTrace.has(name)),
    ...figures.filter((name) => !said.includes(name)),
  ]
  report(
    `${protocol}: ${missing.length === 0 ? `got one trace of ${spans.join(', ')}, and ${figures.join(', ')}` : `did not get ${missing.join(', ')}`}`,
    missing.length === 0,
  )
  const warned = logged(service).filter((line) => line.includes('telemetry'))
  report(
    `${protocol}: the service says of its exports: ${warned.join(' ') || 'nothing'}`,
    warned.length === 0,
  )
}

/** From the collector's output. */
function spansIn(said: string): readonly { readonly name: string; readonly trace: string }[] {
  const fieldOf = (text: string, field: string) =>
    new RegExp(`^ *${field} *: (.*)$`, 'm').exec(text)?.[1] ?? ''
  return said
    .split(/^Span #/m)
    .slice(1)
    .map((one) => ({ name: fieldOf(one, 'Name'), trace: fieldOf(one, 'Trace ID') }))
}

async function startCollector(directory: string) {
  const [http, grpc] = [await freePort(), await freePort()]
  const flags = {
    'otlp-http-endpoint': `127.0.0.1:${http}`,
    'otlp-grpc-endpoint': `127.0.0.1:${grpc}`,
    'pid-file': join(directory, 'pid'),
    'debug-log-verbosity': 'detailed',
    exporter: 'blackhole',
  }
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const started = startProgram(program, [
    'start',
    ...words,
    '--debug-log',
    'traces',
    '--debug-log',
    'metrics',
  ])
  await untilListening(http)
  return { ...started, url: `http://127.0.0.1:${http}`, said: () => started.output.all }
}
