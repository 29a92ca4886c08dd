/** An OTLP receiver: spans and metrics in JSON, over HTTP on the loopback. */
import { startHttpServer } from './loopback.ts'

type Value = string | number | boolean

export interface SinkSpan {
  readonly traceId: string
  readonly spanId: string
  /** Undefined or empty at the root of a trace. */
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, Value>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly failed: boolean
  readonly resource: Readonly<Record<string, Value>>
}

interface SinkFigure {
  readonly name: string
  readonly unit: string
  /** The last points, by their attributes. */
  readonly points: readonly { readonly attributes: Readonly<Record<string, Value>>; readonly value: number }[]
  readonly resource: Readonly<Record<string, Value>>
}

export interface OtlpSink extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly spans: readonly SinkSpan[]
  readonly figures: readonly SinkFigure[]
  readonly requests: readonly { readonly path: string; readonly type: string; readonly body: Buffer }[]
}

// biome-ignore lint/suspicious/noExplicitAny: what was exported is read as it is; a wrong guess fails the test
type Exported = any

/** `await using sink = await startSink()`. `hangs`: it takes everything and never answers. */
export async function startSink({ hangs = false } = {}): Promise<OtlpSink> {
  const spans: SinkSpan[] = []
  const figures: SinkFigure[] = []
  const requests: OtlpSink['requests'][number][] = []
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const type = request.headers['content-type'] ?? ''
    requests.push({ path: request.url ?? '', type, body })
    if (hangs) return
    if (type === 'application/json') read(JSON.parse(body.toString()))
    response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? '{}' : '')
  })

  function read({ resourceSpans = [], resourceMetrics = [] }: Exported): void {
    for (const { resource, scopeSpans } of resourceSpans)
      for (const { spans: exported } of scopeSpans)
        for (const { attributes, links = [], status, ...span } of exported)
          spans.push({
            ...span,
            links,
            failed: status?.code === 2,
            attributes: valuesOf(attributes),
            resource: valuesOf(resource.attributes),
          })
    for (const { resource, scopeMetrics } of resourceMetrics)
      for (const { metrics } of scopeMetrics)
        for (const { name, unit, ...kinds } of metrics)
          figures.push({ name, unit, points: pointsOf(kinds), resource: valuesOf(resource.attributes) })
  }

  return { ...server, spans, figures, requests }
}

function valuesOf(attributes: Exported): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value }: Exported) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  )
}

function pointsOf({ sum, gauge, histogram }: Exported): SinkFigure['points'] {
  return (sum ?? gauge ?? histogram).dataPoints.map(({ attributes, asDouble, asInt, count }: Exported) => ({
    attributes: valuesOf(attributes),
    value: Number(asDouble ?? asInt ?? count),
  }))
}
