/** For functions outside of the commit function: the lock that they begin with, and the writing of an event. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'
import { countResponsesFunction, storeResponsesFunction } from './commit-function.ts'

export const lockClockFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './lock-clock.sql'))

export const recordEventFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './record-event.sql'),
)

/** PostgreSQL's error code of a value sealed with another encryption key than the database's current one. */
export const sealedOtherwiseCode = 'DW002'

export const replayedFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './replayed.sql'))

export const requireSealedWithFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './require-sealed-with.sql'),
)

export const storeResponseFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './store-response.sql'),
  [requireSealedWithFunction, storeResponsesFunction, countResponsesFunction],
)
