/** Rows as CSV: RFC 4180, in UTF-8 for spreadsheets, with the fields of the API as columns. */

/** Spreadsheets read UTF-8 by it. */
const byteOrderMark = '\uFEFF'

type Fields = Readonly<Record<string, unknown>>

export function csvHeader(row: Fields): string {
  return byteOrderMark + csvLine(columnsOf(row))
}

export function csvRow(row: Fields): string {
  return csvLine(columnsOf(row).map((name) => textOf(row[name])))
}

function columnsOf(row: Fields): readonly string[] {
  return Object.keys(row).filter((name) => name !== 'object' && name !== 'organizationId')
}

/** Words are separated as imports read them; other lists and objects are JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return harmless(value.join(';'))
  if (typeof value === 'object') return JSON.stringify(value)
  return typeof value === 'string' ? harmless(value) : String(value)
}

/** A spreadsheet would calculate a text that begins like a formula; numbers of telephones are none. */
function harmless(text: string): string {
  return /^[=@\t\r\n]/.test(text) || (/^[+-]/.test(text) && !/^\+\d+$/.test(text)) ? `'${text}` : text
}

function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
  return `${quoted.join(',')}\r\n`
}
