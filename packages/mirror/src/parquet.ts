/** An export as Parquet, a column a field, written by DuckDB: it needs `@duckdb/node-api`. */
import { DuckDBInstance } from '@duckdb/node-api'
import { type ExportManifest, type ExportOptions, exportMoment } from './exports.ts'
import { DuckDbStore } from './stores/duckdb.ts'
import { literal, quoted } from './stores/sql.ts'

export type { ExportManifest, ExportOptions } from './exports.ts'

/** Ids are UUIDs, times timestamps in UTC, lists and objects JSON; rows are ordered by id. Throws as `Mirror.catchUp` does. */
export function exportParquet(options: ExportOptions): Promise<ExportManifest> {
  return exportMoment(
    {
      ending: 'parquet',
      hasTexts: false,
      store: (file) => new DuckDbStore({ file }),
      async write(parts, _, scratch) {
        // The instance that the store has open; nothing writes to it meanwhile.
        const instance = await DuckDBInstance.fromCache(scratch)
        const connection = await instance.connect()
        try {
          for (const { table, file } of parts) {
            const columns = table.columns.map(({ name }) => quoted(name)).join(', ')
            await connection.run(
              `copy (select ${columns} from ${quoted(table.name)} order by id) to ${literal(file)} (format parquet, compression zstd)`,
            )
          }
        } finally {
          connection.closeSync()
          instance.closeSync()
        }
      },
    },
    options,
  )
}
