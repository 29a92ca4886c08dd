/** csv-spectrum: files of CSV, and what they mean. */
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Desk, Shown } from './desk.ts'
import { type Row, short, Tally } from './matrix.ts'

/** `directory` has csvs/NAME.csv and json/NAME.json. */
export async function csvRow(directory: string, desk: Desk): Promise<Row> {
  const tally = new Tally()
  for (const file of readdirSync(join(directory, 'csvs'))) {
    const name = basename(file, '.csv')
    const bytes = readFileSync(join(directory, 'csvs', file))
    const expected = JSON.parse(readFileSync(join(directory, 'json', `${name}.json`), 'utf8'))
    const rows: readonly Record<string, string>[] = [expected].flat()
    // Its first column becomes the name, the others custom attributes; nothing else of it is changed.
    const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d)
    const columns = bytes
      .toString('latin1', 0, end)
      .split(',')
      .map((column, n) => (n === 0 ? 'name' : `customAttributes.${column}`))
    const path = join(desk.scratch, `${name}.csv`)
    await writeFile(path, Buffer.concat([Buffer.from(columns.join(','), 'latin1'), bytes.subarray(end)]))
    const before = new Set((await desk.rows('customers')).map(({ id }) => id))
    const { code, stderr } = await desk.run('import', path, '--kind', 'customers')
    const made = (await desk.rows('customers')).filter(({ id }) => !before.has(id))
    if (!bytes.equals(Buffer.from(bytes.toString('utf8')))) {
      const isRefused = code === 1 && /is not UTF-8/.test(stderr) && made.length === 0
      tally.count(name, isRefused ? null : `exit code ${code}: ${stderr}`, true)
      continue
    }
    // An empty cell leaves its field out.
    const wanted = rows.map(withoutEmpty)
    const [first = ''] = Object.keys(rows[0] ?? {})
    const found = made.map(({ name: cell, customAttributes }: Shown) =>
      withoutEmpty({ [first]: cell, ...customAttributes }),
    )
    if (code === 1 && /the record on line 2 cannot be read/.test(stderr)) {
      // A quote within a value that does not begin with one: RFC 4180 has none.
      tally.count(name, made.length === 0 ? null : 'a part of it is there', true)
      continue
    }
    const isSame = code === 0 && sorted(found) === sorted(wanted)
    tally.count(
      name,
      isSame ? null : `exit code ${code} ${stderr}, ${short(found)}; expected ${short(wanted)}`,
    )
  }
  const only = 'Only the import reads CSV.'
  return {
    corpus: 'csv-spectrum',
    cells: {
      API: only,
      query: only,
      import: tally,
      mirror: only,
      webhook: only,
      MCP: only,
      SDK: only,
      console: only,
    },
  }
}

function withoutEmpty(row: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function sorted(rows: readonly object[]): string {
  return JSON.stringify(rows.map((row) => JSON.stringify(row)).sort())
}
