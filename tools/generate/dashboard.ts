/**
 * The Grafana dashboard for import: requests, commits, deliveries and resources, in the types of Grafana's own schema.
 */
import type { Dashboard, Panel as GrafanaPanel, RowPanel } from '@grafana/schema'
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen'
import type { Options as TimeSeriesOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'
import { percentile } from './alerts.ts'
import { promql, selecting } from './promql.ts'

/** Enumerations as their values, as in the file. */
type Written<T> = T extends string
  ? `${T}`
  : T extends number
    ? `${T}` extends `${infer Value extends number}`
      ? Value
      : never
    : { [Key in keyof T]: Written<T[Key]> }

/** Common to all panels; `options` depends on the type. */
type Shown = Written<Omit<GrafanaPanel, 'type' | 'options' | 'id' | 'gridPos'>> &
  (
    | { readonly type: 'stat'; readonly options: Written<StatOptions> }
    | { readonly type: 'timeseries'; readonly options: Written<TimeSeriesOptions> }
  )
type Placed = Written<Pick<GrafanaPanel, 'id' | 'gridPos'>> & Shown

interface Panel {
  readonly title: string
  /** Grafana's names. */
  readonly unit: 's' | 'reqps' | 'short' | 'bytes' | 'percentunit' | 'none'
  /** By label, with label values in double braces: an expression each. */
  readonly lines: Readonly<Record<string, string>>
  readonly stat?: true
  /** From this value on it is red. */
  readonly red?: number
}

/** A metric that all processes report alike, for all databases together. */
const ofDatabases = (figure: string) => `sum(max by (database) (${figure}))`
const rate = (figure: string, by: string) => `sum by (${by}) (rate(${figure}[$__rate_interval]))`
const percentiles = (histogram: string) =>
  Object.fromEntries(
    [0.5, 0.95, 0.99].map((part) => [`p${part * 100}`, percentile(part, histogram, '$__rate_interval')]),
  )

const rows: Readonly<Record<string, readonly Panel[]>> = {
  'At a glance': [
    {
      title: 'Requests a second',
      unit: 'reqps',
      stat: true,
      lines: { requests: 'sum(rate(deskwire_http_request_duration_seconds_count[$__rate_interval]))' },
    },
    {
      title: 'Answered with a 5xx',
      unit: 'percentunit',
      stat: true,
      red: 0.01,
      lines: {
        failed:
          '(sum(rate(deskwire_http_request_duration_seconds_count{status="5xx"}[$__rate_interval])) or vector(0)) / sum(rate(deskwire_http_request_duration_seconds_count[$__rate_interval]))',
      },
    },
    {
      title: 'Deliveries that are due',
      unit: 'short',
      stat: true,
      lines: { due: ofDatabases('deskwire_deliveries_due') },
    },
    {
      title: 'Longest due',
      unit: 's',
      stat: true,
      red: 60,
      lines: { oldest: 'max(deskwire_delivery_oldest_due_seconds)' },
    },
    {
      title: 'Endpoints disabled',
      unit: 'short',
      stat: true,
      lines: { disabled: ofDatabases('deskwire_webhooks_disabled') },
    },
    {
      title: 'Releases',
      unit: 'none',
      stat: true,
      lines: { '{{version}}': 'count by (version) (deskwire_build_info)' },
    },
  ],
  Requests: [
    {
      title: 'Requests by status',
      unit: 'reqps',
      lines: { '{{status}}': rate('deskwire_http_request_duration_seconds_count', 'status') },
    },
    { title: 'Duration', unit: 's', lines: percentiles('deskwire_http_request_duration_seconds') },
    {
      title: 'Slowest routes, 99th percentile',
      unit: 's',
      lines: {
        '{{method}} {{route}}':
          'topk(5, histogram_quantile(0.99, sum by (le, method, route) (rate(deskwire_http_request_duration_seconds_bucket[$__rate_interval]))))',
      },
    },
    {
      title: 'Under way, and waiting',
      unit: 'short',
      lines: {
        'under way': 'sum(deskwire_http_requests_under_way)',
        waiting: 'sum(deskwire_http_requests_waiting)',
      },
    },
    {
      title: 'Refused beyond a share',
      unit: 'reqps',
      lines: { '{{of}}: {{reason}}': rate('deskwire_share_refusals_total', 'of, reason') },
    },
    {
      title: 'Memory for bodies and responses',
      unit: 'bytes',
      lines: { reserved: 'sum(deskwire_http_memory_bytes)' },
    },
  ],
  'The stream': [
    {
      title: 'Duration of a commit',
      unit: 's',
      lines: percentiles('deskwire_stream_commit_duration_seconds'),
    },
    {
      title: 'Changes a commit carries, on average',
      unit: 'short',
      lines: {
        changes:
          'sum(rate(deskwire_stream_commit_group_size_sum[$__rate_interval])) / sum(rate(deskwire_stream_commit_group_size_count[$__rate_interval]))',
      },
    },
    { title: 'Changes that wait', unit: 'short', lines: { pending: 'sum(deskwire_stream_changes_pending)' } },
    {
      title: 'Ahead of the database',
      unit: 's',
      lines: { '{{instance}}': 'max by (instance) (deskwire_stream_lead_seconds)' },
    },
  ],
  Deliveries: [
    {
      title: 'Attempts by outcome',
      unit: 'reqps',
      lines: { '{{outcome}}': rate('deskwire_delivery_attempts_total', 'outcome') },
    },
    {
      title: 'From the change to its first attempt',
      unit: 's',
      lines: percentiles('deskwire_delivery_first_attempt_delay_seconds'),
    },
    {
      title: 'Duration of an attempt',
      unit: 's',
      lines: percentiles('deskwire_delivery_attempt_duration_seconds'),
    },
    {
      title: 'Due, and for how long',
      unit: 'short',
      lines: {
        deliveries: ofDatabases('deskwire_deliveries_due'),
        endpoints: ofDatabases('deskwire_delivery_queues_due'),
        'being sent to': ofDatabases('deskwire_delivery_queues_leased'),
        'seconds, the oldest': 'max(deskwire_delivery_oldest_due_seconds)',
      },
    },
    {
      title: 'Attempts under way',
      unit: 'short',
      lines: { '{{instance}}': 'sum by (instance) (deskwire_delivery_attempts_in_flight)' },
    },
    {
      title: 'Endpoints',
      unit: 'short',
      lines: {
        active: ofDatabases('deskwire_webhooks_active'),
        disabled: ofDatabases('deskwire_webhooks_disabled'),
        'disabled in an hour: {{reason}}': 'sum by (reason) (increase(deskwire_webhooks_disabled_total[1h]))',
      },
    },
  ],
  'The database': [
    {
      title: 'Connections',
      unit: 'short',
      lines: {
        '{{pool}}, {{state}}': 'sum by (pool, state) (deskwire_database_connections)',
        '{{pool}}, at most': 'sum by (pool) (deskwire_database_connections_max)',
      },
    },
    {
      title: 'Waiting for a connection',
      unit: 'short',
      lines: {
        '{{pool}}': 'sum by (pool) (deskwire_database_connections_waiting)',
        'statements beyond a share': 'sum(deskwire_statements_waiting)',
      },
    },
    { title: 'How long statements waited', unit: 's', lines: percentiles('deskwire_statement_wait_seconds') },
    {
      title: 'The largest organizations: rows',
      unit: 'short',
      lines: { '{{rank}}': 'max by (rank) (deskwire_organization_rows_largest)' },
    },
    {
      title: 'The largest organizations: log',
      unit: 'short',
      lines: { '{{rank}}': 'max by (rank) (deskwire_organization_log_largest)' },
    },
    {
      title: 'Rows still to be upgraded',
      unit: 'short',
      lines: { '{{kind}}': 'max by (kind) (deskwire_rows_outdated)' },
    },
  ],
  'What each database does': [
    {
      title: 'Answers',
      unit: 'short',
      lines: { '{{database}}': 'min by (database) (deskwire_database_answers)' },
    },
    {
      title: 'Commits a second',
      unit: 'reqps',
      lines: { '{{database}}': rate('deskwire_stream_commit_duration_seconds_count', 'database') },
    },
    {
      title: 'Duration of a commit, 99th percentile',
      unit: 's',
      lines: {
        '{{database}}':
          'histogram_quantile(0.99, sum by (le, database) (rate(deskwire_stream_commit_duration_seconds_bucket[$__rate_interval])))',
      },
    },
    {
      title: 'Attempts a second',
      unit: 'reqps',
      lines: { '{{database}}': rate('deskwire_delivery_attempts_total', 'database') },
    },
    {
      title: 'Deliveries that are due',
      unit: 'short',
      lines: { '{{database}}': 'max by (database) (deskwire_deliveries_due)' },
    },
    {
      title: 'Connections in use',
      unit: 'short',
      lines: {
        '{{database}}': 'sum by (database) (deskwire_database_connections{state="used"})',
      },
    },
  ],
  Processes: [
    {
      title: 'Processor time',
      unit: 'percentunit',
      lines: { '{{instance}} {{process}}': 'rate(process_cpu_seconds_total[$__rate_interval])' },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      lines: { '{{instance}} {{process}}': 'process_resident_memory_bytes' },
    },
    {
      title: 'Event loop held, 99th percentile',
      unit: 's',
      lines: { '{{instance}} {{process}}': 'deskwire_event_loop_delay_p99_seconds' },
    },
    {
      title: 'Event loop at work',
      unit: 'percentunit',
      lines: { '{{instance}} {{process}}': 'deskwire_event_loop_utilization' },
    },
  ],
}

const width = 24
const height = 8
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana's
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** @throws Error when a panel reads an unknown metric. */
export function dashboardFile(): string {
  const panels: (Placed | Written<RowPanel>)[] = []
  let y = 0
  for (const [title, own] of Object.entries(rows)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: width, h: 1 },
      panels: [],
    })
    y++
    const across = own[0]?.stat ? 6 : own.length % 3 === 0 ? 3 : 2
    const tall = own[0]?.stat ? 4 : height
    own.forEach((panel, n) => {
      const w = width / across
      const gridPos = { x: (n % across) * w, y: y + Math.floor(n / across) * tall, w, h: tall }
      panels.push({ id: panels.length + 1, gridPos, ...shown(panel) })
    })
    y += Math.ceil(own.length / across) * tall
  }
  const dashboard: Omit<Written<Dashboard>, 'panels'> & { readonly panels: typeof panels } = {
    title: 'Deskwire',
    uid: 'deskwire',
    tags: ['deskwire'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Data source',
          type: 'datasource',
          query: 'prometheus',
          hide: 0,
        },
        {
          name: 'database',
          label: 'Database',
          type: 'query',
          datasource,
          query: `label_values(${promql('deskwire_database_answers')}, database)`,
          refresh: 2,
          sort: 1,
          multi: true,
          includeAll: true,
          // Also series without this label: with one database there is none.
          allValue: '.*',
          current: { text: ['All'], value: ['$__all'] },
          hide: 0,
        },
      ],
    },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

function shown({ title, unit, lines, stat, red }: Panel): Shown {
  const common = {
    title,
    datasource,
    targets: Object.entries(lines).map(([legendFormat, expression], n) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + n),
      datasource,
      expr: promql(selecting('database=~"$database"', expression)),
      legendFormat,
    })),
  }
  if (!stat)
    return {
      type: 'timeseries',
      ...common,
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    }
  const limit = red === undefined ? [] : [{ color: 'red', value: red }]
  return {
    type: 'stat',
    ...common,
    fieldConfig: {
      // Grafana's default limit would show eighty requests a second in red.
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }, ...limit] },
      },
      overrides: [],
    },
    options: {
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      orientation: 'auto',
      textMode: 'auto',
      colorMode: 'value',
      graphMode: 'area',
      justifyMode: 'auto',
      percentChangeColorMode: 'standard',
      showPercentChange: false,
      wideLayout: true,
    },
  }
}
