/** For functions outside of the commit function: the lock that they begin with, and the writing of an event. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'

export const lockClockFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './lock-clock.sql'))

export const recordEventFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './record-event.sql'),
)
