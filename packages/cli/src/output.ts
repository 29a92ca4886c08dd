/** How responses of the API are shown: as a table, as JSON, or as a line of JSON a row. */
import { clipped } from '@deskwire/sdk/clipped'
import { table } from './table.ts'
import { printError, printOut, printTable } from './terminal.ts'
import { UsageError } from './usage-error.ts'

const formats = ['table', 'json', 'ndjson'] as const
type Format = (typeof formats)[number]

export const outputFlags = ['output', 'fields'] as const

export const outputHelp = `  --output FORMAT        table, json or ndjson
  --fields NAME,…        show these fields only, author.type for one within another
  --json                 the same as --output json
`

export interface Shown {
  readonly format: Format
  /** Null for those that are shown unless told. */
  readonly fields: readonly string[] | null
}

/** @throws UsageError */
export function readOutput(
  texts: Partial<Record<(typeof outputFlags)[number], string>>,
  switches: { readonly json?: boolean },
  usual: Format,
): Shown {
  const format = formats.find((one) => one === (texts.output ?? (switches.json ? 'json' : usual)))
  if (format === undefined)
    throw new UsageError(
      `--output: ${JSON.stringify(texts.output)} is not accepted; it must be one of ${formats.join(', ')}`,
    )
  const fields = texts.fields?.split(',').filter((one) => one !== '') ?? null
  return { format, fields }
}

type Row = Readonly<Record<string, unknown>>

/** Columns that a table has where its rows do, most telling first; a person asks for others by `--fields`. */
const telling = [
  ...['id', 'webhookId', 'number', 'name', 'subject', 'title', 'direction', 'body', 'email', 'url'],
  ...[
    'eventType',
    'status',
    'priority',
    'attemptCount',
    'responseStatus',
    'at',
    'scopes',
    'startAt',
    'updatedAt',
    'createdAt',
    'type',
  ],
]
const maxColumns = 7
const widest = 60

/** Shows a response: a page of rows, or one object. `takesAll`: its command has the flag --all. */
export function show(response: unknown, { format, fields }: Shown, takesAll = false): void {
  if (response === undefined) return
  const page = response as { readonly data?: unknown; readonly pagination?: Row }
  const rows = isObject(response) && Array.isArray(page.data) ? (page.data as Row[]) : null
  const picked = (row: Row) =>
    fields === null ? row : Object.fromEntries(fields.map((one) => [one, at(row, one)]))
  if (format === 'ndjson') {
    for (const row of rows ?? [response as Row]) printOut(`${JSON.stringify(picked(row))}\n`)
    return
  }
  if (format === 'json') {
    const whole = fields === null ? response : rows === null ? picked(response as Row) : rows.map(picked)
    printOut(`${JSON.stringify(whole, null, 2)}\n`)
    return
  }
  if (rows === null) {
    const one = isObject(response) ? picked(response as Row) : { value: response }
    const width = Math.max(...Object.keys(one).map((name) => name.length))
    for (const [name, value] of Object.entries(one))
      printOut(`${name.padEnd(width)}  ${cell(value, Number.POSITIVE_INFINITY)}\n`)
    return
  }
  if (rows.length === 0) {
    printError('nothing found\n')
    return
  }
  const columns =
    fields ?? telling.filter((name) => rows.some((row) => row[name] != null)).slice(0, maxColumns)
  printTable(
    table([
      columns.map((name) => name.toUpperCase()),
      ...rows.map((row) => columns.map((name) => cell(at(row, name), widest))),
    ]),
  )
  note(rows.length, page.pagination ?? {}, takesAll)
}

/** That there is more, where a person would not see it. */
function note(shown: number, { total, hasMore }: Row, takesAll: boolean): void {
  if (hasMore !== true) return
  const count = typeof total === 'number' ? `${shown} of ${total}` : `${shown}, and there are more`
  printError(`${count}${takesAll ? ': --all shows every one' : ''}\n`)
}

function at(row: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (isObject(value) ? (value as Row)[name] : undefined), row)
}

function cell(value: unknown, most: number): string {
  if (value === null || value === undefined) return ''
  const flat = Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(',') : value
  const text = typeof flat === 'object' ? JSON.stringify(flat) : String(flat)
  return clipped(text, most)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
