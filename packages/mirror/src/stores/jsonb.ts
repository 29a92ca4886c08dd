/** PostgreSQL's text of a `jsonb`, so that a copy's column can be compared without its database. */
import { readJson } from '@deskwire/sdk/json'

/** What `select '…'::jsonb::text` returns for this JSON text without repeated names. */
export function jsonbText(text: string): string {
  return printed(readJson(text))
}

function printed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`
  if (typeof value === 'number') return decimal(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
  members.sort(([a], [b]) => Buffer.byteLength(a) - Buffer.byteLength(b) || compareBytes(a, b))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${printed(member)}`).join(', ')}}`
}

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

function decimal(value: number): string {
  const text = JSON.stringify(value)
  if (!text.includes('e')) return text
  const [, sign, whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0')}`
}
