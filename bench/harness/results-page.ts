/** bench/RESULTS.md: every committed case and its target. Conditions and single runs are in results.json. */
import { reachOf } from './reaches.ts'
import type { Measured, Results } from './results.ts'

export function resultsPage({ machine, cases }: Results): string {
  const lines = [
    '# Benchmark results',
    '',
    'Medians of the latest runs, written by `npm run bench -- --write-results`. `results.json` has the conditions of each case and every run;',
    '[README.md](README.md) says what the cases measure. Service, database, receiver and load share the machine.',
    '',
    ...machine.map((fact) => `- ${fact}`),
    '',
    '| case | result | p50 ms | p99 ms | bare limit | ratio | target | met | measured |',
    '|---|---|---|---|---|---|---|---|---|',
    ...cases.map(tableRow),
    '',
    ...otherMachines(cases),
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
    `${entry.measured}${entry.machine === undefined ? '' : ' \\*'}`,
  ]
  return `| ${cells.join(' | ')} |`
}

/** The footnote of starred cases. */
function otherMachines(cases: readonly Measured[]): string[] {
  const machines = new Set(
    cases.flatMap(({ machine }) => (machine === undefined ? [] : [machine.join('; ')])),
  )
  return [...machines].flatMap((machine) => [`\\* On another machine: ${machine}.`, ''])
}

function shown(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 2 })
}
