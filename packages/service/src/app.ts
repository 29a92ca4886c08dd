/** The composition root: everything is built here, and disposed here. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { createTokenDirectory } from './access/directory.ts'
import type { Schema, SchemaFunction } from './db/migration.ts'
import { coreMigrations } from './db/migrations/core.ts'
import { webhookMigrations } from './db/migrations/webhooks.ts'
import { deliveryFunctions } from './delivery/functions.ts'
import { registerHealth } from './http/health.ts'
import { createIdempotencyStore } from './http/idempotency.ts'
import { createServer, refuseOtherMethods } from './http/server.ts'
import { commitFunction } from './journal/commit-function.ts'
import { createFeed } from './journal/feed.ts'
import { createJournal } from './journal/journal.ts'
import { createRowReader } from './journal/rows.ts'
import type { Clock } from './kernel/clock.ts'
import { createMaintenance, type Maintenance } from './maintenance.ts'
import { openApiDocument } from './openapi/document.ts'
import { createBrowse } from './resource/browse.ts'
import { createChanges } from './resource/changes.ts'
import type { Kind } from './resource/kind.ts'
import { registerKindRoutes } from './resource/routes.ts'
import { kinds as deskKinds } from './resources/index.ts'

/** What a database needs for an installation with these kinds. */
export function schemaOf(
  kinds: readonly Kind[] = deskKinds,
): Schema & { readonly commitFunction: SchemaFunction } {
  const commit = commitFunction(kinds.map((kind) => kind.table))
  return {
    commitFunction: commit,
    migrations: [...coreMigrations, ...webhookMigrations, ...kinds.flatMap((kind) => kind.migrations)],
    functions: [commit, ...deliveryFunctions],
  }
}

export interface App {
  readonly server: FastifyInstance
  readonly maintenance: Maintenance
}

/** The service on a migrated database. The pool stays its caller's. */
export function createApp(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds?: readonly Kind[]
}): App {
  const { pool, clock, log, kinds = deskKinds } = options
  const journal = createJournal({ pool, clock, commitFunction: schemaOf(kinds).commitFunction })
  const directory = createTokenDirectory(pool, clock)
  const idempotency = createIdempotencyStore(pool, clock)

  const server = createServer(log)
  const allowed = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method }) => {
    const methods = allowed.get(url) ?? new Set<string>()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })
  registerHealth(server, pool)
  const document = JSON.stringify(openApiDocument(kinds))
  server.get('/openapi.json', (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(document),
  )
  for (const kind of kinds) {
    const rows = createRowReader(pool, kind.table)
    const services = {
      kind,
      rows,
      feed: createFeed(pool, kind.table),
      browse: createBrowse(pool, kind),
      changes: createChanges({ kind, journal, rows, clock }),
    }
    registerKindRoutes(server, services, { directory, idempotency })
  }
  refuseOtherMethods(server, new Map(allowed))
  return { server, maintenance: createMaintenance(pool, clock, log) }
}
