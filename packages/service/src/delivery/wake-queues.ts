/** Makes queues due, for functions that create deliveries or make them due outside of a commit. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'

export const wakeQueuesFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './wake-queues.sql'))
