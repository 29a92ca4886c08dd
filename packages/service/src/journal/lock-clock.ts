/** The lock that functions outside of the commit function begin with. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'

export const lockClockFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './lock-clock.sql'))
