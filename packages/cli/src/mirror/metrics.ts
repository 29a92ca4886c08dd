/** The state of a copy for Prometheus. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KindStatus, MirrorStatus } from '@deskwire/mirror'
import { CommandFailure } from '../failure.ts'
import { UsageError } from '../usage-error.ts'

/** In the text format of Prometheus. */
export function metricsText({ lagSeconds, quarantined, kinds }: MirrorStatus): string {
  const metric = (name: string, help: string, values: readonly (readonly [string, number | null])[]) =>
    `# HELP deskwire_mirror_${name} ${help}\n# TYPE deskwire_mirror_${name} gauge\n${values
      .flatMap(([labels, value]) => (value === null ? [] : [`deskwire_mirror_${name}${labels} ${value}\n`]))
      .join('')}`
  const perKind = (pick: (kind: KindStatus) => number | null) =>
    kinds.map((kind) => [`{kind="${kind.kind}"}`, pick(kind)] as const)
  const seconds = (time: string | null) => (time === null ? null : Date.parse(time) / 1_000)
  return [
    metric('lag_seconds', 'Seconds since the copy last matched the service.', [['', lagSeconds]]),
    metric('quarantined_rows', 'Rows that the store cannot hold.', [['', quarantined]]),
    metric(
      'rows',
      'Rows of the copy.',
      perKind(({ rows }) => rows),
    ),
    metric(
      'last_change_timestamp_seconds',
      'The last change that the copy holds.',
      perKind(({ lastChangeAt }) => seconds(lastChangeAt)),
    ),
    metric(
      'verified_timestamp_seconds',
      'When every row was last compared with the service.',
      perKind(({ verifiedAt }) => seconds(verifiedAt)),
    ),
    metric(
      'exact',
      '1 when the last comparison found nothing, else 0.',
      perKind(({ exact }) => (exact === null ? null : Number(exact))),
    ),
  ].join('')
}

/** `[HOST:]PORT`. @throws UsageError */
export function readMetricsAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host = '127.0.0.1', digits] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (!(port >= 0 && port < 65_536))
    throw new UsageError(`--metrics: ${JSON.stringify(text)} is not accepted; write PORT or HOST:PORT`)
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port }
}

/** Serves `/metrics`. @throws CommandFailure when the port is taken. */
export async function serveMetrics(
  address: { readonly host: string; readonly port: number },
  status: () => Promise<MirrorStatus | undefined>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    status().then(
      (now) =>
        response.setHeader('content-type', 'text/plain; version=0.0.4').end(now ? metricsText(now) : ''),
      () => response.writeHead(503).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => reject(new CommandFailure(`--metrics: ${message}`)))
    server.listen(address.port, address.host, resolve)
  })
  return {
    url: `http://${address.host}:${(server.address() as AddressInfo).port}/metrics`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
