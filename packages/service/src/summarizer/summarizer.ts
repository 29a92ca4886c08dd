import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { unshared } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { conversation } from '../desk/conversation/index.ts'
import { createJournal } from '../journal/journal.ts'
import { createNotifier } from '../journal/notifier.ts'
import { createRowReader } from '../journal/rows.ts'
import { loggable } from '../kernel/log.ts'
import { createKeyedQueue } from '../kernel/shared-work.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { createChanges } from '../kinds/model/changes.ts'
import type { Kind } from '../kinds/model/kind.ts'
import type { ChatEndpointSettings } from './chat-endpoint.ts'
import { createSummaryEngine } from './engine.ts'
import { extractSummary } from './extractive.ts'
import { createJobs } from './jobs.ts'
import { type Summarize, summaryWithoutText } from './transcript.ts'

/** Durations in milliseconds. */
export interface SummarySettings {
  readonly delay: number
  /** The language model; null: extractive summaries. */
  readonly endpoint: ChatEndpointSettings | null
}

/** How much longer than the request a lease lasts, in milliseconds. */
const readingAndWriting = 30_000

/**
 * Does nothing until it is started or woken. Its commits must be durable, so the pool must not turn off
 * synchronous_commit.
 */
export function createSummarizer(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly commitFunction: SchemaFunction
  readonly settings: SummarySettings
  readonly maxAttempts: number
  /** Milliseconds that the clock may be ahead of the database's. Default: no limit. */
  readonly maxClockSkew?: number
  readonly workerId?: string
}) {
  const { pool, clock, log, kinds, settings, maxAttempts, maxClockSkew, workerId = randomUUID() } = options
  const tables = kinds.map((kind) => kind.table)
  const onNotifyFailure = (error: Error) =>
    log.warn({ err: loggable(error) }, 'workers and waiting readers could not be notified of a summary')
  const journal = createJournal({
    pool,
    clock,
    commitFunction: options.commitFunction,
    tables,
    maxAttempts,
    ...(maxClockSkew === undefined ? {} : { maxClockSkew }),
    notifier: createNotifier(pool, onNotifyFailure),
  })
  const rows = createRowReader(unshared(pool), conversation.table)
  const queue = createKeyedQueue()
  const changes = createChanges({ kind: conversation, journal, rows: () => rows, clock, queue })
  const endpoint = settings.endpoint === null ? null : loadChatEndpoint(settings.endpoint, clock)
  const engine = createSummaryEngine({
    pool,
    jobs: createJobs(pool),
    rows,
    changes,
    summarize: endpoint === null ? extract : async (...input) => (await endpoint).summarize(...input),
    clock,
    log,
    delay: settings.delay,
    workerId,
    lease: (settings.endpoint?.timeout ?? 0) + readingAndWriting,
  })
  return {
    engine,
    async close(): Promise<void> {
      await engine.stop()
      await (await endpoint)?.close()
    },
  }
}

/** Loads the HTTP client only when it is needed. */
async function loadChatEndpoint(settings: ChatEndpointSettings, clock: Clock) {
  const { createChatEndpoint } = await import('./chat-endpoint.ts')
  return createChatEndpoint(settings, clock)
}

const extract: Summarize = async (transcript) => ({
  outcome: 'written',
  summary: extractSummary(transcript) || summaryWithoutText(transcript),
})
