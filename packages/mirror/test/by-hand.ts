/**
 * What a copy should hold, worked out without a line of the mirror: the service's exports beside what the databases' own clients
 * read.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '@deskwire/sdk'

/** What differs, a line each; nothing for an exact copy. Nobody may write meanwhile. */
export async function differencesByHand(
  client: Client,
  sql: (text: string) => Promise<readonly Record<string, unknown>[]>,
  plurals: readonly string[],
): Promise<string[]> {
  const differences: string[] = []
  for (const plural of plurals) {
    const served = new Map<string, string>()
    for await (const lines of client.kind(plural).export().texts()) {
      for (const line of lines) {
        const { id, object } = JSON.parse(line)
        if (object === 'removed') served.delete(id)
        else served.set(id, line)
      }
    }
    const marked = new Set<unknown>()
    for (const row of await sql(`select * from ${plural}`)) {
      const text = served.get(row.id as string)
      if ((row.removed_at ?? null) !== null) {
        marked.add(row.id)
        if (text !== undefined) differences.push(`${plural} ${row.id} exists and is marked as removed`)
        continue
      }
      served.delete(row.id as string)
      if (text === undefined) differences.push(`${plural} ${row.id} is not there`)
      else if (text !== row._body) differences.push(`${plural} ${row.id} has another text`)
      else
        differences.push(...wrongColumns(JSON.parse(text), row).map((name) => `${plural} ${row.id} ${name}`))
    }
    for (const id of served.keys()) if (!marked.has(id)) differences.push(`${plural} ${id} is missing`)
  }
  return differences
}

function wrongColumns(members: Record<string, unknown>, row: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(members)
    .filter(([field]) => field !== 'object')
    .map(
      ([field, value]) => [field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const,
    )
    .filter(([name, value]) => name in row && !isSame(value, row[name]))
    .map(([name]) => name)
}

/** A value of the service, and what a database's client makes of its column. */
function isSame(value: unknown, held: unknown): boolean {
  if (held instanceof Date) return held.toISOString() === value
  if (typeof value === 'boolean') return Boolean(held) === value && held !== null
  if (typeof value === 'number') return Number(held) === value && held !== null
  if (typeof value !== 'object' || value === null) return held === value
  return isDeepStrictEqual(typeof held === 'string' ? JSON.parse(held) : held, value)
}
