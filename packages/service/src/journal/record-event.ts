/** The function that writes an event outside of the commit function. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'

export const recordEventFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './record-event.sql'),
)
