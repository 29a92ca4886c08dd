/** Prometheus rules: alerts and recorded rules. */
import { promql } from './promql.ts'

interface Alert {
  readonly name: string
  readonly expression: string
  /** How long it must hold. */
  readonly for: string
  /** `page`: wakes somebody; `ticket`: can wait until the morning. */
  readonly severity: 'page' | 'ticket'
  readonly summary: string
  readonly description: string
}

/** The share of responses, as an expression; 0 without any. */
const ofRequests = (status: string) =>
  `sum(rate(deskwire_http_request_duration_seconds_count{status="${status}"}[5m])) / sum(rate(deskwire_http_request_duration_seconds_count[5m]))`

/** Over all processes. */
export const percentile = (part: number, histogram: string, window = '5m') =>
  `histogram_quantile(${part}, sum by (le) (rate(${histogram}_bucket[${window}])))`

export const alerts: readonly Alert[] = [
  {
    name: 'DeskwireDown',
    expression: promql('up{job=~".*deskwire.*"} == 0'),
    for: '2m',
    severity: 'page',
    summary: 'A process of Deskwire does not answer',
    description:
      '{{ $labels.instance }} has not answered a scrape for two minutes. Its log on standard error says why it ended.',
  },
  {
    name: 'DeskwireDatabaseAway',
    expression: promql('min by (database) (deskwire_database_answers) == 0'),
    for: '1m',
    severity: 'page',
    // With one database there is no such label.
    summary: 'The database {{ with $labels.database }}{{ . }} {{ end }}does not answer',
    description:
      'A process has had no answer from it, or cannot use it, for a minute. Its organizations are answered 503 and wait for their deliveries, and no others. The log says why.',
  },
  {
    name: 'DeskwireLogPartitionsMissing',
    expression: promql('max by (database) (deskwire_log_partitions_missing) > 0'),
    for: '30m',
    severity: 'ticket',
    summary: '{{ $value }} partitions of the log are missing',
    description:
      'Maintenance makes them ahead and tries again every ten minutes. Rows of such a week are kept in the default partition, whose removal takes longer. The log names the partitions.',
  },
  {
    name: 'DeskwireNobodyDelivers',
    expression: promql(
      'max(deskwire_deliveries_due) > 0 and on() (sum(rate(deskwire_delivery_attempts_total[5m])) == 0 or absent(deskwire_delivery_attempts_total{process="worker"}))',
    ),
    for: '5m',
    severity: 'page',
    summary: 'Deliveries are due, and no attempt is made',
    description:
      'No worker runs, or none reaches the database. /readyz of an API process says so of the worker beside it.',
  },
  {
    name: 'DeskwireDeliveriesLate',
    expression: promql('max(deskwire_delivery_oldest_due_seconds) > 60'),
    for: '5m',
    severity: 'page',
    summary: 'The delivery that waits longest has been due for {{ $value | humanizeDuration }}',
    description:
      'There are too few workers, or very many endpoints that do not answer. Look at attempts under way and their durations, and at the processor time of workers.',
  },
  {
    name: 'DeskwireRequestsFail',
    expression: promql(`${ofRequests('5xx')} > 0.01`),
    for: '5m',
    severity: 'page',
    summary: '{{ $value | humanizePercentage }} of the requests are answered with a 5xx',
    description:
      'Errors in the log carry the requestId that the client got. 503 alone means that the database is away or too busy.',
  },
  {
    name: 'DeskwireRequestsSlow',
    expression: promql(
      'histogram_quantile(0.99, sum by (le) (rate(deskwire_http_request_duration_seconds_bucket{method!="GET"}[5m]))) > 1',
    ),
    for: '10m',
    severity: 'ticket',
    summary: 'One write in a hundred takes longer than {{ $value | humanizeDuration }}',
    description:
      'Compare with the duration of commits and the wait for connections: what is slow is the database, its disk, or the processor.',
  },
  {
    name: 'DeskwireCommitsSlow',
    expression: promql(`${percentile(0.99, 'deskwire_stream_commit_duration_seconds')} > 0.25`),
    for: '10m',
    severity: 'ticket',
    summary: 'One commit in a hundred takes longer than {{ $value | humanizeDuration }}',
    description:
      'Commits of an organization wait for each other: look at the latency of the database server and of its disk.',
  },
  {
    name: 'DeskwireConnectionsExhausted',
    expression: promql('min_over_time(deskwire_database_connections_waiting[5m]) > 0'),
    for: '5m',
    severity: 'ticket',
    summary: 'Work waits for a connection of the pool {{ $labels.pool }} all the time',
    description:
      'Statements take too long, or the database has too little processor time for what is asked of it.',
  },
  {
    name: 'DeskwireEventLoopHeld',
    expression: promql('deskwire_event_loop_delay_p99_seconds{process!="bulk"} > 0.25'),
    for: '10m',
    severity: 'ticket',
    summary:
      'The event loop of {{ $labels.instance }} ({{ $labels.process }}) is held for {{ $value | humanizeDuration }} at a time',
    description:
      'The process has too little processor time. On a machine that has some left it is worth a report.',
  },
  {
    name: 'DeskwireClockAhead',
    expression: promql('max(deskwire_stream_lead_seconds) > 5'),
    for: '5m',
    severity: 'ticket',
    summary: "The stream's clock is {{ $value | humanizeDuration }} ahead of the database's",
    description:
      'A clock was or is wrong: see that processes and database follow a time server. In the minute after a restore it is so by itself.',
  },
  {
    name: 'DeskwireEndpointsDisabled',
    expression: promql('sum by (reason) (increase(deskwire_webhooks_disabled_total[1h])) > 5'),
    for: '0m',
    severity: 'ticket',
    summary: 'Workers have disabled {{ $value | humanize }} endpoints within an hour: {{ $labels.reason }}',
    description:
      'Many at once have one reason: a network that is away, or a resolver. The service does not notify their owners.',
  },
  {
    name: 'DeskwireAttemptsFail',
    expression: promql(
      'sum(rate(deskwire_delivery_attempts_total{outcome=~"resolver_failed|connection_failed|timeout"}[15m])) / sum(rate(deskwire_delivery_attempts_total[15m])) > 0.5',
    ),
    for: '15m',
    severity: 'ticket',
    summary: '{{ $value | humanizePercentage }} of the attempts reach nobody',
    description:
      'One receiver that is down fails by itself. When half of all do it is more likely the way out: DNS, a firewall, a proxy.',
  },
  {
    name: 'DeskwireSharesRefused',
    expression: promql('sum by (of) (increase(deskwire_share_refusals_total{reason="all_taken"}[15m])) > 0'),
    for: '0m',
    severity: 'ticket',
    summary: 'Requests were refused as all was taken of {{ $labels.of }}',
    description:
      'Not one organization asked for too much, but all together: another API process, or more memory, is due.',
  },
  {
    name: 'DeskwireReleasesMixed',
    expression: promql('count(count by (version) (deskwire_build_info)) > 1'),
    for: '1h',
    severity: 'ticket',
    summary: 'Processes of {{ $value }} releases have run side by side for an hour',
    description:
      'A rollout was not finished: processes of the earlier release keep what they do not know, and are to be replaced.',
  },
]

/** Computed once a minute, for long time ranges. */
const recorded: Readonly<Record<string, string>> = {
  'deskwire:http_requests:rate5m': promql(
    'sum by (status) (rate(deskwire_http_request_duration_seconds_count[5m]))',
  ),
  'deskwire:http_request_duration_seconds:p99_5m': promql(
    percentile(0.99, 'deskwire_http_request_duration_seconds'),
  ),
  'deskwire:stream_commit_duration_seconds:p99_5m': promql(
    percentile(0.99, 'deskwire_stream_commit_duration_seconds'),
  ),
  'deskwire:delivery_attempts:rate5m': promql(
    'sum by (outcome) (rate(deskwire_delivery_attempts_total[5m]))',
  ),
  'deskwire:delivery_first_attempt_delay_seconds:p99_5m': promql(
    percentile(0.99, 'deskwire_delivery_first_attempt_delay_seconds'),
  ),
}

/** Each Deskwire serves it; operators set their host. */
const guide = 'https://desk.example/docs/guides/observing.md'

/** JSON strings are YAML. */
export function rulesFile(): string {
  const text = JSON.stringify
  const records = Object.entries(recorded).map(
    ([name, expression]) => `      - record: ${name}\n        expr: ${text(expression)}`,
  )
  const rules = alerts.map((alert) =>
    [
      `      - alert: ${alert.name}`,
      `        expr: ${text(alert.expression)}`,
      `        for: ${alert.for}`,
      '        labels:',
      `          severity: ${alert.severity}`,
      '        annotations:',
      `          summary: ${text(alert.summary)}`,
      `          description: ${text(alert.description)}`,
      `          runbook_url: ${text(`${guide}#${alert.name.toLowerCase()}`)}`,
    ].join('\n'),
  )
  return `# Made by npm run generate. Edit tools/generate/alerts.ts instead.
groups:
  - name: deskwire-recorded
    interval: 1m
    rules:
${records.join('\n')}
  - name: deskwire
    rules:
${rules.join('\n')}
`
}
