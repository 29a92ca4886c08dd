/** An engine with a movable clock, a real database, and scripted receivers. */

import { unshared } from '../service/src/db/fair-pool.ts'
import { endpointScope } from '../service/src/delivery/endpoint/event-types.ts'
import { signingKeysOf } from '../service/src/delivery/endpoint/signing-keys-route.ts'
import { createOpener, type EncryptionKeys } from '../service/src/delivery/endpoint/vault.ts'
import {
  type DeliveryObserver,
  type DeliverySchedule,
  nobodyObserves,
} from '../service/src/delivery/model.ts'
import type { Send } from '../service/src/delivery/queue/attempt.ts'
import { createEndpointQueues, type EndpointQueues } from '../service/src/delivery/queue/endpoint-queues.ts'
import { createEngine, type Engine } from '../service/src/delivery/queue/engine.ts'
import { createSigner } from '../service/src/delivery/queue/signer.ts'
import { type ConcurrencyTuning, deliveryTuning } from '../service/src/delivery/tuning.ts'
import { kinds } from '../service/src/desk/index.ts'
import type { Clock } from '../service/src/kernel/timestamps.ts'
import { deliverySettings } from './delivery-settings.ts'
import { type RunDue, withRunDue } from './run-due.ts'
import type { TestService } from './service.ts'

/** A request as a receiver sees it. */
export interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly at: number
}

export interface TestEngine {
  /** `runDue` returns how many drains had something to do. */
  readonly engine: Engine & RunDue
  readonly queues: EndpointQueues
  readonly sent: Sent[]
  /** Statuses of the next responses; the last one repeats. */
  answer(...statuses: readonly number[]): void
}

/** What a receiver said, without a body. */
export const answered = (status: number) =>
  ({ kind: 'answered', status, responseBody: '', durationMs: 1 }) as const

/** For a worker that is dead or suspended: it never looks after its drains again. */
export const lifeless: Partial<ConcurrencyTuning> = { tickEvery: 3_600_000 }

/** On the service's database. Responses are scripted; default: 200. */
export function testEngine(
  service: TestService,
  clock: Clock,
  options: {
    readonly send?: Send
    readonly schedule?: DeliverySchedule
    /** How much later than its delay the next retry comes, from 0 to 1; default: not at all. */
    readonly random?: () => number
    readonly concurrency?: Partial<ConcurrencyTuning>
    readonly observer?: DeliveryObserver
    readonly onHealth?: () => void
    /** The owner of its leases; default: a new one. */
    readonly workerId?: string
    /** Default: the one key of the tests' services. */
    readonly encryptionKeys?: EncryptionKeys
    /** Wraps the queues that its drains use. */
    readonly through?: (queues: EndpointQueues) => EndpointQueues
  } = {},
): TestEngine {
  const sent: Sent[] = []
  let script: number[] = [200]
  const scripted: Send = async (request) => {
    sent.push({ ...request, at: clock.now() })
    const status = script.length > 1 ? (script.shift() as number) : (script[0] as number)
    return { kind: 'answered', status, responseBody: `answered ${status}`, durationMs: 5 }
  }
  const { encryptionKeys = { current: deliverySettings.encryptionKey, previous: null } } = options
  const signer = createSigner(createOpener(encryptionKeys), (organizationId) =>
    signingKeysOf(encryptionKeys, organizationId),
  )
  const queues = createEndpointQueues(
    unshared(service.database.pool),
    kinds.map((kind) => kind.table),
  )
  /** Of drains that claimed their queue. */
  const leases = new Set<string>()
  const used = options.through?.(queues) ?? queues
  const engine = createEngine(
    {
      queues: {
        ...used,
        async claim(endpoint, options, known) {
          let leaseId = ''
          const claim = await used.claim(
            endpoint,
            () => {
              const chosen = options()
              leaseId = chosen.lease.id
              return chosen
            },
            known,
          )
          if (claim !== null) leases.add(leaseId)
          return claim
        },
      },
      send: options.send ?? scripted,
      signerOf: (claim) => signer(claim.endpoint, claim),
      scopeOf: (subjectKind) => {
        if (subjectKind === 'endpoint') return endpointScope
        const kind = kinds.find(({ name }) => name === subjectKind)
        return kind === undefined ? null : `${kind.plural}:read`
      },
      clock,
      schedule: options.schedule ?? deliverySettings.schedule,
      random: options.random ?? (() => 0),
      log: service.app.server.log,
      observer: options.observer ?? nobodyObserves,
      onHealth: options.onHealth ?? (() => {}),
    },
    {
      ...(options.workerId === undefined ? {} : { workerId: options.workerId }),
      concurrency: { ...deliveryTuning.concurrency, ...options.concurrency },
    },
  )
  return {
    engine: withRunDue(engine, () => leases.size),
    queues,
    sent,
    answer(...statuses) {
      script = [...statuses]
    },
  }
}
