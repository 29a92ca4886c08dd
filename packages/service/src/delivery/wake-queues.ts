/** What makes an endpoint's queue due, for the functions of other rooms. */
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'

export const wakeQueuesFunction: SchemaFunction = schemaObject(readSql(import.meta.url, './wake-queues.sql'))
