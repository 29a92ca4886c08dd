/** PostgreSQL's text of a `jsonb`, so that a copy's column can be compared without its database. */

/** What `select '…'::jsonb::text` returns for the JSON text of this value. */
export function jsonbText(value: unknown): string {
  if (typeof value === 'number') return decimal(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  names.sort((a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || compareBytes(a, b))
  let text = ''
  for (const name of names) text += `${text && ', '}${JSON.stringify(name)}: ${jsonbText(members[name])}`
  return `{${text}}`
}

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function decimal(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  const [, sign, whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0')}`
}
