/**
 * @deskwire/mirror: an exact copy of a desk in your store, verified and repaired. Stores and exports have entry
 * points of their own, so that only what is used is loaded: `@deskwire/mirror/postgres`, `/sqlite`, `/duckdb`,
 * `/memory`, `/ndjson` and `/parquet`.
 */
export type { CopyDifference } from './compare.ts'
export { hasCopy, type QuarantinedRow } from './copy.ts'
export { MirrorError } from './error.ts'
export {
  type AppliedPage,
  type CallOptions,
  type LoadProgress,
  Mirror,
  type MirrorFollowOptions,
  type MirrorOptions,
  passes,
  type Trouble,
  type Verification,
} from './mirror.ts'
export { statusTable } from './own-table.ts'
export type { Selection } from './select.ts'
export { type KindStatus, type MirrorStatus, statusOf, tablesOf } from './status.ts'
export {
  type Cell,
  type Column,
  type ColumnType,
  type Drift,
  FileTaken,
  NameTaken,
  type OpenOptions,
  type Removal,
  type RemovedRow,
  RowRefused,
  type Store,
  type StoredRow,
  type StoreReader,
  StoreUnavailable,
  type StoreWriter,
  type Table,
  type VersionEnd,
  type VersionKey,
  WriteRefused,
} from './store.ts'
