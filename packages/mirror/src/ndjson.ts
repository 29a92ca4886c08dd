/** An export as lines of JSON: each row byte for byte as it is served, ordered by id. It needs nothing but Node. */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type ExportManifest, type ExportOptions, exportMoment } from './exports.ts'
import type { StoreReader, Table } from './store.ts'
import { SqliteStore } from './stores/sqlite.ts'

export type { ExportManifest, ExportOptions } from './exports.ts'

/** Writes `customers.ndjson` and so on, and `manifest.json`. Throws as `Mirror.catchUp` does. */
export function exportNdjson(options: ExportOptions): Promise<ExportManifest> {
  return exportMoment(
    {
      ending: 'ndjson',
      store: (file) => new SqliteStore({ file }),
      async write(tables, at) {
        for (const { table, file } of tables) await pipeline(linesOf(at, table), createWriteStream(file))
      },
    },
    options,
  )
}

const allIds = {
  after: '00000000-0000-0000-0000-000000000000',
  before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

async function* linesOf(at: StoreReader, table: Table): AsyncGenerator<string> {
  for await (const rows of at.rows(table, allIds)) yield rows.map(({ text }) => `${text}\n`).join('')
}
