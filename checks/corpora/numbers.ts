/**
 * Numbers and days as people write them in every language that CLDR knows, as cells of CSV: a number is read as it is
 * meant, or refused in words.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Desk, Shown } from './desk.ts'
import { type Row, short, Tally } from './matrix.ts'

const numbers = [0, 5, 1234.5, -1234.5, 1234567.891, 0.5, -0.25, 1e15]
const day = new Date('2026-03-04T05:06:07.000Z')

interface Written {
  readonly locale: string
  readonly text: string
  /** The number that is meant; undefined for a day. */
  readonly value?: number
}

/** The languages are those of the names of directories: `de`, `ar-EG`. */
export async function localeRow(languages: readonly string[], desk: Desk): Promise<Row> {
  const locales = Intl.getCanonicalLocales(languages.filter((name) => name !== 'root' && name !== 'und'))
  const written = new Map<string, Written>()
  for (const locale of locales) {
    for (const value of numbers) {
      const text = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }).format(value)
      written.set(`${value} ${text}`, { locale, text, value })
      // The first language's name is kept.
    }
    for (const style of ['short', 'medium', 'long'] as const) {
      const text = new Intl.DateTimeFormat(locale, {
        dateStyle: style,
        timeStyle: 'short',
        timeZone: 'UTC',
      }).format(day)
      written.set(text, { locale, text })
    }
  }
  const all = [...written.values()]
  const tally = new Tally()
  await attempt(
    'numbers.csv',
    all.filter(({ value }) => value !== undefined),
    ({ text }) => `customAttributes.n:number|${text}`,
  )
  await attempt(
    'days.csv',
    all.filter(({ value }) => value === undefined),
    ({ text }) => `createdAt|${text}`,
    '--history',
  )
  const none = 'JSON has one form of numbers and times, whatever the language.'
  return {
    corpus: "CLDR's forms of numbers and times",
    cells: {
      API: none,
      query: none,
      import: tally,
      mirror: none,
      webhook: none,
      MCP: none,
      SDK: none,
      console: 'Its fields of times take one form, which the row of zones tries.',
    },
  }

  async function attempt(
    file: string,
    cells: readonly Written[],
    cellOf: (one: Written) => string,
    ...flags: readonly string[]
  ): Promise<void> {
    const path = join(desk.scratch, file)
    const [column = ''] = cellOf(cells[0] as Written).split('|')
    const id = (n: number) => `${file} ${n}`
    const lines = cells.map((one, n) => {
      const [, ...text] = cellOf(one).split('|')
      return `${id(n)},Ada,"${text.join('|').replaceAll('"', '""')}"`
    })
    await writeFile(path, `externalId,name,${column}\n${lines.join('\n')}\n`)
    const { code, stdout, stderr } = await desk.run('import', path, '--json', ...flags)
    if (code !== 0 && code !== 3) return tally.count(file, `exit code ${code}: ${stderr}`)
    const { rejects } = JSON.parse(stdout)
    const rejected = rejects === null ? '' : await readFile(rejects, 'utf8')
    const rows = new Map((await desk.rows('customers')).map((row: Shown) => [row.externalId, row]))
    for (const [n, { locale, text, value }] of cells.entries()) {
      const row = rows.get(id(n))
      const input = `${text} (${locale})`
      if (row === undefined) {
        tally.count(input, rejected.includes(`${id(n)},`) ? null : 'it is neither there nor rejected', true)
        continue
      }
      const found = value === undefined ? row.createdAt : row.customAttributes.n
      const isMeant = value === undefined ? found === day.toISOString() : Object.is(found, value)
      tally.count(input, isMeant ? null : `it is read as ${short(found)}`)
    }
  }
}
