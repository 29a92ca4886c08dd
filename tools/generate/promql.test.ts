/** Invalid expressions of dashboard and alerts are found, and each alert is documented and tested. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outdatedCounted } from '../../packages/service/src/kinds/model/backfill.ts'
import { countedAtMost } from '../../packages/service/src/metrics/catalogue.ts'
import { alerts } from './alerts.ts'
import { dashboardFile } from './dashboard.ts'
import { promql, selecting } from './promql.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test.each([
  ['max(deskwire_deliveries_overdue)', 'reads deskwire_deliveries_overdue, which there is not'],
  ['max(deskwire_deliveries_due_total)', 'reads deskwire_deliveries_due_total'],
  // A histogram has buckets, a sum and a count; a counter has none of these.
  ['rate(deskwire_http_request_duration_seconds[5m])', 'reads deskwire_http_request_duration_seconds'],
  ['rate(deskwire_delivery_attempts_total_count[5m])', 'reads deskwire_delivery_attempts_total_count'],
  ['deskwire_deliveries_due{queue="x"}', 'names the label queue'],
  ['sum by (tenant) (deskwire_deliveries_due)', 'names the label tenant'],
  ['process_cpu_minutes_total', 'reads process_cpu_minutes_total'],
  ['vector(1)', 'reads nothing'],
])('%s is refused', (expression, said) => {
  expect(() => promql(expression)).toThrow(said)
})

test('what there is can be read, with the labels that it has', () => {
  for (const expression of [
    'sum by (route, le) (rate(deskwire_http_request_duration_seconds_bucket{method!="GET",process="api"}[5m]))',
    'rate(process_cpu_seconds_total[5m])',
    'up{job=~".*deskwire.*"} == 0',
    'absent(deskwire_delivery_attempts_total{outcome="no label=\\"at\\" all"})',
  ])
    expect(promql(expression)).toBe(expression)
})

test('databases are selected of what they have figures of, and the rest stays whole', () => {
  expect(
    selecting(
      'database="two"',
      'sum(rate(deskwire_delivery_attempts_total{outcome="timeout"}[5m])) / max(deskwire_deliveries_due) + deskwire_http_memory_bytes',
    ),
  ).toBe(
    'sum(rate(deskwire_delivery_attempts_total{database="two",outcome="timeout"}[5m])) / max(deskwire_deliveries_due{database="two"}) + deskwire_http_memory_bytes',
  )
})

test('each alert has a section in the guide, and a case that raises it', () => {
  const guide = read('docs/guides/observing.md')
  const cases = read('deploy/prometheus/deskwire.rules.test.yaml')
  for (const { name } of alerts) {
    expect(guide).toContain(`\n### ${name}\n`)
    expect(cases).toMatch(new RegExp(`alertname: ${name}\\n\\s+exp_alerts:\\n\\s+- exp_labels`))
  }
})

test('no two panels of the dashboard stand in one place, and each reads something', () => {
  const { panels } = JSON.parse(dashboardFile())
  const taken = new Set<string>()
  for (const { gridPos, type, targets } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`)).toBe(false)
        taken.add(`${x} ${y}`)
      }
    if (type !== 'row') expect(targets.length).toBeGreaterThan(0)
  }
})

test('what the catalogue says of how far is counted is how far is counted', () => {
  expect(outdatedCounted).toBe(countedAtMost)
})
