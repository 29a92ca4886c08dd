/** bench/RESULTS.md: the machine, every case against what it should reach, and under which conditions. */
import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import type { Pool } from 'pg'
import type { Result } from './report.ts'

/** What each case should reach. A limit without an operator is reached by every figure: it is not asked for. */
const reaches: readonly {
  readonly begins: string
  readonly text: string
  readonly met: (r: Result) => boolean
}[] = [
  {
    begins: 'write: PATCH, one organization, 64 clients',
    text: '≥ 5,000/s, ≥ 40 % of bare, p99 ≤ 60 ms',
    met: ({ value, ratio = 0, p99 = 0 }) => value >= 5000 && ratio >= 0.4 && p99 <= 60,
  },
  {
    begins: 'write: PATCH, 64 organizations',
    text: '≥ 3,500/s without endpoints',
    met: ({ value }) => value >= 3500,
  },
  { begins: 'sync: pages', text: '≥ 65 % of bare', met: ({ ratio = 0 }) => ratio >= 0.65 },
  { begins: 'sync: from epoch, one client', text: '≤ 15 s', met: ({ value }) => value <= 15 },
  {
    begins: 'sync: from epoch among',
    text: 'as without (≤ 1.5×)',
    met: ({ ratio = 9 }) => ratio <= 1.5,
  },
  { begins: 'pages: p99', text: 'flat (≤ 1.5× the smallest)', met: ({ ratio = 9 }) => ratio <= 1.5 },
  { begins: 'list: with total, no filter', text: '≤ 5 ms', met: ({ value }) => value <= 5 },
  { begins: 'log:', text: '≤ 10 ms', met: ({ value }) => value <= 10 },
  {
    begins: 'deliver: drain',
    text: '≥ 8,000/s, ≥ 65 % of bare',
    met: ({ value, ratio = 0 }) => value >= 8000 && ratio >= 0.65,
  },
  {
    begins: 'latency:',
    text: 'p50 ≤ 4 ms, p99 ≤ 20 ms',
    met: ({ p50 = 99, p99 = 99 }) => p50 <= 4 && p99 <= 20,
  },
  { begins: 'import: peak memory of the importer', text: '≤ 300 MB', met: ({ value }) => value <= 300 },
  { begins: 'start: warm', text: '≤ 3 s', met: ({ value }) => value <= 3 },
  { begins: 'start: resident', text: '≤ 250 MB', met: ({ value }) => value <= 250 },
]

/** One line a fact about where the figures were taken. */
export async function describeMachine(pool: Pool): Promise<string[]> {
  const settings = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']
  const { rows } = await pool.query<{ name: string; value: string }>(
    'select s.name, current_setting(s.name) as value from unnest($1::text[]) as s(name)',
    [settings],
  )
  const setting = new Map(rows.map(({ name, value }) => [name, value]))
  const processors = cpus()
  return [
    `date: ${new Date().toISOString().slice(0, 10)}`,
    `processor: ${processors[0]?.model.trim()}, ${processors.length} cores`,
    `memory: ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}, PostgreSQL ${setting.get('server_version')} (embedded)`,
    `durability: ${settings
      .slice(1, 4)
      .map((name) => `${name} ${setting.get(name)}`)
      .join(', ')}; shared_buffers ${setting.get('shared_buffers')}`,
    'service, database and load share the machine; every change and page is a request of its own over loopback HTTP',
  ]
}

/** Writes the file anew from this run's results. */
export async function writeResults(file: URL, machine: readonly string[], results: readonly Result[]) {
  const lines = [
    '# Benchmark results',
    '',
    'Written by `npm run bench -- --write-results`; figures are medians.',
    '',
    ...machine.map((fact) => `- ${fact}`),
    '',
    '| case | result | p50 ms | p99 ms | bare limit | ratio | to reach | reached |',
    '|---|---|---|---|---|---|---|---|',
    ...results.map(tableRow),
    '',
    '## Conditions and runs',
    '',
    ...results.map(
      (result) => `- ${result.case}: ${conditionsText(result)}; runs ${result.runs.map(shown).join(', ')}`,
    ),
    '',
  ]
  await writeFile(file, lines.join('\n'))
}

function tableRow(result: Result): string {
  const reach = reaches.find(({ begins }) => result.case.startsWith(begins))
  const cells = [
    result.case,
    `${shown(result.value)} ${result.unit}`,
    shown(result.p50),
    shown(result.p99),
    shown(result.baseline),
    shown(result.ratio),
    reach?.text ?? '',
    reach === undefined ? '' : reach.met(result) ? 'yes' : '**no**',
  ]
  return `| ${cells.join(' | ')} |`
}

function conditionsText({ conditions }: Result): string {
  return Object.entries(conditions)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? shown(value) : value}`)
    .join(', ')
}

function shown(value: number | undefined): string {
  return value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 2 })
}
