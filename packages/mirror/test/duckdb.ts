/**
 * DuckDB, where it can be had: its client brings a build for the machine, and not every machine has one. Tests of it are left out
 * then, and it is said; where CI is set that is a failure.
 */
import type { Store } from '../src/index.ts'

export const duckDb = await import('@duckdb/node-api').catch((error: Error) => {
  if (process.env.CI) throw error
  console.warn(`DuckDB is not tried, as it is not to be had here: ${error.message.split('\n')[0]}`)
  return undefined
})

export type DuckDb = NonNullable<typeof duckDb>

const { DuckDbStore } = duckDb ? await import('../src/stores/duckdb.ts') : {}

/** Tables of a few rows: a second thread of each database would only be woken and put to sleep. */
export const duckDbSettings = { threads: '1' }

export function duckDbStore(file: string): Store {
  if (DuckDbStore === undefined) throw new Error('DuckDB is not to be had here')
  return new DuckDbStore({ file, settings: duckDbSettings })
}
