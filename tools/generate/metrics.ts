import { catalogue, type Figure } from '../../packages/service/src/metrics/catalogue.ts'
import { madeBy, table } from './markdown.ts'

const whose: Readonly<Record<Figure['of'], string>> = {
  api: 'the API',
  worker: 'workers',
  each: 'each process',
  database: 'whoever is asked',
}

/** Every figure of the service. */
export function metricsPage(): string {
  const rows = Object.entries<Figure>(catalogue).map(([name, { type, of, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    whose[of],
    help,
  ])
  return `${madeBy}
# Metrics

What \`/metrics\` shows of the service, in Prometheus' text format, and what telemetry exports under the same names. Each series has
the label \`process\` as well: \`api\`, \`worker\`, or \`bulk\`, the API's thread for large bodies. Those of \`whoever is asked\` come
from the database: every process tells the same, so take the largest and do not add them up. Beside them stand \`process_…\` and
\`nodejs_…\`, the usual ones of a Node process without
its handles and requests: \`nodejs_active_resources\` counts these. What to look at is in [observing](../guides/observing.md).

${table(['metric', 'type', 'labels', 'of', 'what it says'], rows)}
`
}
