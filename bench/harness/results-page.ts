/** bench/RESULTS.md: every case against what it should reach, and under which conditions it was measured. */
import { reachOf } from './reaches.ts'
import type { Measured, Results } from './results.ts'

export function resultsPage({ machine, cases }: Results): string {
  const lines = [
    '# Benchmark results',
    '',
    'Written by `npm run bench -- --write-results` from `results.json`: the latest figures of each case, which are medians of its runs.',
    '',
    ...machine.map((fact) => `- ${fact}`),
    '- service, database and load share the machine; every change and page is a request of its own over loopback HTTP',
    '',
    '| case | result | p50 ms | p99 ms | bare limit | ratio | to reach | reached | measured |',
    '|---|---|---|---|---|---|---|---|---|',
    ...cases.map(tableRow),
    '',
    '## Conditions and runs',
    '',
    ...cases.map(
      (entry) => `- ${entry.case}: ${conditionsText(entry)}; runs ${entry.runs.map(shown).join(', ')}`,
    ),
    '',
  ]
  return lines.join('\n')
}

function tableRow(entry: Measured): string {
  const reach = reachOf(entry)
  const cells = [
    entry.case,
    `${shown(entry.value)} ${entry.unit}`,
    shown(entry.p50),
    shown(entry.p99),
    shown(entry.baseline),
    shown(entry.ratio),
    reach?.text ?? '',
    reach === undefined ? '' : reach.met(entry) ? 'yes' : '**no**',
    entry.measured,
  ]
  return `| ${cells.join(' | ')} |`
}

function conditionsText({ conditions, machine }: Measured): string {
  const parts = Object.entries(conditions).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? shown(value) : value}`,
  )
  return [...parts, ...(machine === undefined ? [] : [`on another machine (${machine.join('; ')})`])].join(
    ', ',
  )
}

function shown(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 2 })
}
