/** An export as lines of JSON: each row byte for byte as it is served, ordered by id. Needs only Node. */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type ExportManifest, type ExportOptions, type ExportPart, exportMoment } from './exports.ts'
import { fileMode } from './files.ts'
import type { StoreReader } from './store.ts'
import { SqliteStore } from './stores/sqlite.ts'

export type { ExportManifest, ExportOptions } from './exports.ts'

/** Writes `customers.ndjson` and so on, and `manifest.json`. Throws as `Mirror.catchUp` does. */
export function exportNdjson(options: ExportOptions): Promise<ExportManifest> {
  return exportMoment(
    {
      ending: 'ndjson',
      hasTexts: true,
      store: (file) => new SqliteStore({ file }),
      async write(parts, at) {
        for (const part of parts)
          await pipeline(linesOf(at, part), createWriteStream(part.file, { mode: fileMode }))
      },
    },
    options,
  )
}

const allIds = {
  after: '00000000-0000-0000-0000-000000000000',
  before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}

async function* linesOf(at: StoreReader, { table, quarantined }: ExportPart): AsyncGenerator<string> {
  const others = [...quarantined].sort((a, b) => (a.id < b.id ? -1 : 1))
  for await (const rows of at.rows(table, allIds)) {
    const last = rows.at(-1)?.id ?? ''
    const before = others.splice(0, others.filter(({ id }) => id < last).length)
    const all = before.length === 0 ? rows : [...rows, ...before].sort((a, b) => (a.id < b.id ? -1 : 1))
    yield all.map(({ text }) => `${text}\n`).join('')
  }
  yield others.map(({ text }) => `${text}\n`).join('')
}
