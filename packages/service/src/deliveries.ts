/** What sends, put together from the settings: the same for the API, which checks URLs, and for workers. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { type Database, FairPool } from './db/fair-pool.ts'
import type { DrainServices } from './delivery/drain.ts'
import { createEndpointQueues } from './delivery/endpoint-queues.ts'
import { createEngine, type Engine } from './delivery/engine.ts'
import { createFanOuts, type FanOuts } from './delivery/fan-outs.ts'
import { attemptsOf, type DeliveryObserver, type DeliverySchedule, nobodyObserves } from './delivery/model.ts'
import { createRecoverer, createRecoveries, type Recoverer } from './delivery/recoveries.ts'
import { createRegistrants, type Registrants } from './delivery/registrants.ts'
import { createSender } from './delivery/send/send.ts'
import { createSigner } from './delivery/signer.ts'
import type { TrustedTargets } from './delivery/target/address.ts'
import { createResolver, type Resolver } from './delivery/target/resolver.ts'
import { parseTargetUrl } from './delivery/target/url.ts'
import type { Clock } from './kernel/clock.ts'
import { type Problem, problem, validationFailed } from './kernel/errors.ts'
import { createKeyedQueue } from './kernel/keyed-queue.ts'
import type { Kind } from './resource/kind.ts'
import type { CheckTarget } from './webhooks/endpoints.ts'
import { createSecretBox } from './webhooks/secrets.ts'

/** The settings of deliveries. Durations in milliseconds. */
export interface DeliverySettings {
  readonly schedule: DeliverySchedule
  readonly rotationOverlap: number
  readonly logRetention: number
  readonly encryptionKey: Buffer
  readonly trustedTargets: TrustedTargets
  /** PEM. */
  readonly targetCa: string | null
  readonly dnsServers: readonly string[] | null
}

export interface Worker {
  readonly engine: Engine
  readonly recoverer: Recoverer
  /** Makes what large commits have left to be made. */
  readonly fanOuts: FanOuts
  /** Disables what keys that have expired had registered. */
  readonly registrants: Registrants
  close(): Promise<void>
}

/** An engine with everything that it sends with, a recoverer, and who makes what large commits left. They do nothing until they are started or told to. */
export function createWorker(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly settings: DeliverySettings
  readonly observer?: DeliveryObserver
  /** Connections for large commits and the drains of all but the light, who are not to wait behind them; by default the same. */
  readonly otherPool?: Pool
  /** The owner of its leases; one of its own unless told. */
  readonly workerId?: string
}): Worker {
  const { pool, clock, log, kinds, settings, observer = nobodyObserves, otherPool = pool } = options
  const { dnsServers, trustedTargets, targetCa, schedule } = settings
  const box = createSecretBox(settings.encryptionKey)
  const resolver = createResolver({ servers: dnsServers, trusted: trustedTargets, clock })
  const sender = createSender({ resolver, clock, targetCa, answerTimeoutMs: schedule.answerTimeout })
  const signer = createSigner(box.open)
  const scopes = new Map(kinds.map((kind) => [kind.name, `${kind.plural}:read`]))
  const tables = kinds.map((kind) => kind.table)
  const database = sharedByOrganizations(pool)
  const otherDatabase = sharedByOrganizations(otherPool)
  const drains: Omit<DrainServices, 'tuning'> = {
    queues: createEndpointQueues(database, tables),
    send: (request) => sender.send(request),
    signerOf: (claim) => signer(claim.endpoint.sealedSecrets, claim),
    scopeOf: (subjectKind) => scopes.get(subjectKind) ?? null,
    clock,
    schedule,
    log,
    observer,
  }
  const clockTurns = createKeyedQueue()
  const engine = createEngine(drains, {
    clockTurns,
    otherQueues: createEndpointQueues(otherDatabase, tables),
    ...(options.workerId === undefined ? {} : { workerId: options.workerId }),
  })
  const registrants = createRegistrants({ pool, clock, log, observer, clockTurns, wake: () => engine.wake() })
  const recoverer = createRecoverer({
    recoveries: createRecoveries(pool, attemptsOf(schedule)),
    clock,
    log,
    clockTurns,
    onDeliveries: () => engine.wake(),
  })
  const fanOuts = createFanOuts({ database: otherDatabase, clock, log, onDeliveries: () => engine.wake() })
  return {
    engine,
    recoverer,
    fanOuts,
    registrants,
    async close() {
      await Promise.all([recoverer.stop(), fanOuts.stop(), registrants.stop(), engine.stop()])
      sender.close()
      resolver.close()
    },
  }
}

/**
 * A worker's connections, one of them for what belongs to no drain: an organization with fifty endpoints that are flooded waits for its own
 * statements, and nobody's endpoint for them. What waits here has been sent already, so it is not given up.
 */
function sharedByOrganizations(pool: Pool): Database {
  const places = Math.max(2, pool.options.max - 1)
  const limits = { places, longPlaces: 2, commonPlaces: 2, waitAtMost: Number.POSITIVE_INFINITY }
  return new FairPool(pool, { waited: () => {} }, limits)
}

/** Checks a receiver's URL where it stands now (specification 9.2). The resolver is its caller's to close. */
export function createTargetCheck(resolver: Resolver, timeoutMs: number): CheckTarget {
  return async (text) => {
    const url = parseTargetUrl(text)
    if (!url.ok) return refusal(url.error.code, url.error.detail)
    const resolution = await resolver.resolve(url.value.hostname, { fresh: true, timeoutMs })
    switch (resolution.outcome) {
      case 'addresses':
        return null
      case 'not_public':
        return problem('url_not_public', `${resolution.detail}. Give a URL whose every address is public.`, {
          logged: { block: resolution.block },
        })
      case 'no_such_name':
      case 'failed':
        return refusal(
          'url_not_resolvable',
          `${resolution.detail}. Check the name, and that its name servers answer; then send it again.`,
        )
    }
  }
}

function refusal(
  code: 'url_not_https' | 'url_not_resolvable' | 'validation_failed',
  detail: string,
): Problem {
  if (code === 'validation_failed')
    return validationFailed([{ pointer: '/url', code: 'invalid_value', detail }])
  return problem(code, detail)
}
