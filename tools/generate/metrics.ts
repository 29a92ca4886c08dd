import { catalogue, type Figure } from '../../packages/service/src/metrics/catalogue.ts'
import { madeBy, table } from './markdown.ts'

const whose: Readonly<Record<Figure['of'], string>> = {
  api: 'the API',
  worker: 'workers',
  each: 'each process',
  database: 'the database',
}

/** Every figure of the service. */
export function metricsPage(): string {
  const rows = Object.entries<Figure>(catalogue).map(([name, { type, of, labels = [], help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    whose[of],
    help,
  ])
  return `${madeBy}
# Metrics

\`/metrics\` shows these in Prometheus' text format, and telemetry exports them under the same names. Each series has
the label \`process\` as well: \`api\`, \`worker\`, or \`bulk\`, the API's thread for large bodies. Those of \`the database\` are
the same from every process: take the largest and do not add them up. There are also \`process_…\` and \`nodejs_…\`, as Node processes usually have them, without handles and requests: \`nodejs_active_resources\` counts these. What to look at is in [observing](../guides/observing.md).

${table(['metric', 'type', 'labels', 'of', 'what it says'], rows)}
`
}
