/**
 * Changes of keys. Each function locks the organization's clock row first, as commits do. Then it checks the calling
 * key again: one that was revoked, has expired or lost a scope since authentication changes nothing.
 */

import { managingScope } from '../auth/scopes.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import { disableRegisteredFunction } from '../delivery/registrants.ts'
import { lockClockFunction } from '../journal/lock-clock.ts'
import { replayedFunction, storeResponseFunction } from '../journal/responses.ts'

const sql = (file: string) => readSql(import.meta.url, file)

const keyIsUnchangedFunction = schemaObject(sql('./key-is-unchanged.sql'))
const isLastManagerFunction = schemaObject(
  fillTemplate(sql('./is-last-manager.sql'), { managing_scope: managingScope }),
)

const uses = [
  lockClockFunction,
  replayedFunction,
  storeResponseFunction,
  keyIsUnchangedFunction,
  isLastManagerFunction,
  disableRegisteredFunction,
]

export const createKeyFunction: SchemaFunction = schemaObject(sql('./create-api-key.sql'), uses)
export const updateFunction: SchemaFunction = schemaObject(sql('./update-api-key.sql'), uses)
export const rotateKeyFunction: SchemaFunction = schemaObject(sql('./rotate-api-key.sql'), uses)
export const dropPreviousFunction: SchemaFunction = schemaObject(sql('./drop-previous-tokens.sql'), uses)
export const revokeFunction: SchemaFunction = schemaObject(sql('./revoke-api-key.sql'), uses)

export const keyFunctions: readonly SchemaFunction[] = [
  keyIsUnchangedFunction,
  isLastManagerFunction,
  createKeyFunction,
  updateFunction,
  rotateKeyFunction,
  dropPreviousFunction,
  revokeFunction,
]
