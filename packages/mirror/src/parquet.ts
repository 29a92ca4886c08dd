/** An export as Parquet, a column a field, written by DuckDB: it needs `@duckdb/node-api`. */
import { DuckDBInstance } from '@duckdb/node-api'
import { type ExportManifest, type ExportOptions, exportMoment } from './exports.ts'
import { DuckDbStore } from './stores/duckdb.ts'
import { literal, quoted } from './stores/sql.ts'

export type { ExportManifest } from './exports.ts'

export interface ParquetOptions extends ExportOptions {
  /**
   * Whether ids and JSON are strings: readers without these types, polars and Spark among them, take them for bytes
   * or refuse them.
   */
  readonly strings?: boolean
}

/**
 * Ids are UUIDs, times timestamps in UTC, lists and objects JSON; rows are ordered by id. Throws as `Mirror.catchUp`
 * does.
 */
export function exportParquet(options: ParquetOptions): Promise<ExportManifest> {
  return exportMoment(
    {
      ending: 'parquet',
      hasTexts: false,
      store: (file) => new DuckDbStore({ file, rewrites: true }),
      async write(parts, _, scratch) {
        // The instance that the store has open; nothing writes to it meanwhile.
        const instance = await DuckDBInstance.fromCache(scratch)
        const connection = await instance.connect()
        try {
          for (const { table, file } of parts) {
            const columns = table.columns.map(({ name, type }) =>
              options.strings && ['uuid', 'json', 'texts'].includes(type)
                ? `cast(${quoted(name)} as varchar) as ${quoted(name)}`
                : quoted(name),
            )
            await connection.run(
              `copy (select ${columns.join(', ')} from ${quoted(table.name)} as held order by held.id) to ${literal(file)} (format parquet, compression zstd)`,
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
