/** Where a recovery of all missed events must begin. */
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import { controlTypes, finalStatuses } from './control.ts'

export const missedFunction: SchemaFunction = schemaObject(
  fillTemplate(readSql(import.meta.url, './missed-since.sql'), {
    control_types: controlTypes,
    final_statuses: finalStatuses.join(', '),
  }),
)
