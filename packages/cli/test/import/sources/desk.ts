/** What a desk holds after an import, and what a run of the command said. */
import { readFileSync } from 'node:fs'
import { createClient } from '@deskwire/sdk'
import { parse } from 'csv-parse/sync'
import type { Api, TestService } from '../../../../testbed/service.ts'
import { runHere } from '../../run-here.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a row has
export type Row = Record<string, any>

const kinds = ['teammates', 'customers', 'conversations', 'messages', 'notes', 'tickets'] as const

export type DeskRows = Record<(typeof kinds)[number], Row[]>

/** Every row of an organization, by kind, in the order of the stream. */
export async function rowsOf(service: TestService, api: Api): Promise<DeskRows> {
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: api.token })
  const all = {} as DeskRows
  for (const kind of kinds) {
    const rows = new Map<string, Row>()
    for await (const change of client[kind].export())
      if (change.type === 'upsert') rows.set(change.row.id, change.row)
    all[kind] = [...rows.values()]
  }
  return all
}

export interface ListedRow {
  readonly kind: string
  readonly id: string
  readonly outcome: string
  readonly error: string
}

/** The lines of a file of listed records; none where there is no file. */
export function listedIn(path: string | null): ListedRow[] {
  return path === null ? [] : parse(readFileSync(path, 'utf8'), { columns: true })
}

/** `deskwire import SOURCE …` into an organization. */
export async function importInto(service: TestService, api: Api, words: readonly string[], settings = {}) {
  const at = ['--url', `${service.url}/v1`, '--key', api.token]
  const { code, stdout, stderr } = await runHere(['import', ...words, '--json', ...at], { settings })
  const summary: Row = stdout === '' ? {} : JSON.parse(stdout)
  return { code, stderr, summary, listed: listedIn(summary.rejects ?? null) }
}
