/** The numbers of delivery that we chose, with their reasons; milliseconds by default. An operator's settings are in `DeliverySchedule`. */
import type { JobLoopOptions } from '../kernel/job-loop.ts'
import type { DeliverySchedule, Priority } from './model.ts'

type ByPriority = Readonly<Record<Priority, number>>

/** Attempts at once: `concurrency.ts`. */
export interface ConcurrencyTuning {
  /** Attempts of a worker at once. One that hangs costs up to 200 kB for its connection, and hardly any processor time. */
  readonly total: number
  /** Of those, for endpoints without a response yet, or with a late one. The failing ones count against the sum of both. */
  readonly unproven: number
  /** Of those, for endpoints that do not respond. */
  readonly failing: number
  /** Below this fraction of all attempts, and of a priority's, there is plenty: an endpoint may then have more than one. */
  readonly plenty: number
  /** The same for the failing priority: attempts that hang together end together, and would start again together. */
  readonly plentyOfFailing: number
  /** Attempts to one endpoint at once; the guides promise it. */
  readonly perEndpoint: number
  /** Attempts to one host at once by the endpoints of an organization; each of them always has one. */
  readonly perHost: number
  /** Attempts that a drain begins with. Each response lets one more in, so an endpoint that hangs holds few. */
  readonly perEndpointAtFirst: number
  /** A longer attempt is charged to the failing priority. */
  readonly slowAfter: number
  /** How often a worker checks its drains: the precision of `slowAfter`. */
  readonly tickEvery: number
  /** Characters of payloads that a worker holds before its drains claim only a few deliveries at once. */
  readonly payloadsInMemory: number
}

/** One drain of an endpoint's queue: `drain.ts`. */
export interface DrainTuning {
  /** Deliveries claimed at once. Most queues have one. */
  readonly claimSize: number
  /** After a full claim: 64 are worth a statement, and are sent before their payloads are old. */
  readonly claimSizeOfBacklog: number
  /** While payloads fill their memory. */
  readonly claimSizeWhenFull: number
  /** After a full claim, more is claimed when fewer than this wait, so that the next are there when the last are sent. */
  readonly refillBelow: number
  /** Claimed deliveries are sent within this time or claimed again, so that payload, secrets and scopes are current. */
  readonly freshFor: number
  /** Results are written as soon as there are this many: a statement of 64 costs little more than one of 8. */
  readonly completeAt: number
  /** Or this long after the first. */
  readonly completeAfter: number
  /** Ticks with nothing to do but wait for responses, after which the drain listens. */
  readonly quietTicks: number
}

/** Searches for due queues: `engine.ts`. */
interface EngineTuning {
  /** How often to search without a notification. */
  readonly pollEvery: number
  /** The shortest time between searches, so that notifications in between share one. */
  readonly searchesApart: number
  /** Queues that one search finds at most. Failing ones come a few at a time, so that other attempts are not made between theirs. */
  readonly foundAtOnce: ByPriority
  /** Between the beginnings of two queues: a handshake takes the worker 2 ms, in which it serves no healthy endpoint. */
  readonly apart: Readonly<Record<Exclude<Priority, 'healthy'>, number>>
  /** How long a stop waits for attempts, and then for the database; together below the service's 15 s. */
  readonly attemptsMayTake: number
  readonly completingMayTake: number
}

/** Leases of endpoint queues: `leases.ts`. */
interface LeaseTuning {
  /** How much longer than an attempt a lease lasts. */
  readonly beyondAttempt: number
  /** Leases lost in a row, after which deliveries are sent one at a time. */
  readonly lostInARow: number
  /** Deliveries sent alone then, as many as a dead worker may have held: a claim of 64, the rest of the one before, and as many results. */
  readonly sentAlone: number
}

/** Finding work that does not say it is due: `sweep.ts`. */
interface SweepTuning {
  readonly every: number
  /** What is due or committed within this time is no evidence of a fault. */
  readonly soon: number
  /** Clocks of workers may differ by this much before a lease counts as impossible. */
  readonly clocksDiffer: number
  /** A clock that goes back by more was set back. */
  readonly setBackBy: number
  /** Other machines may follow a clock that was set back within this many sweeps, each of which searches again. */
  readonly suspiciousSweeps: number
  /** The longest wait or lease of a recovery: it looks at a disabled endpoint each minute. */
  readonly recoveryWaits: number
  /** Read by one statement, so that nothing waits long behind it. */
  readonly queuesAtOnce: number
  readonly deliveriesAtOnce: number
}

/** Warnings of failing endpoints, and disabling them: `disable-policy.ts`. */
export interface DisableTuning {
  /** Fractions of `disableAfter` at which the log warns, the largest first. */
  readonly warnAt: readonly number[]
  /** Endpoints that were warned of; beyond it the oldest may be warned of again. */
  readonly rememberedWarnings: number
  /** How long to wait when an organization's clock row is busy. */
  readonly busyPause: number
  /** Pending deliveries of a disabled endpoint that one statement fails, with the queue locked. */
  readonly failedAtOnce: number
}

/** A loop of jobs: `kernel/job-loop.ts`. A job holds a connection, and the engine needs most of them. */
type JobTuning = Pick<JobLoopOptions<never>, 'every' | 'stopWithin' | 'atOnce' | 'busyPause'>

/** Expired keys: `registrants.ts`. */
export type RegistrantTuning = JobTuning

/** Recoveries: `webhooks/recovery/job.ts`. */
export interface RecoveryTuning extends JobTuning {
  /** Pieces of one recovery in a row, after which others have theirs. */
  readonly piecesInARow: number
  /** Events read in one piece, for which the organization's writers wait: 200 take 4 to 10 ms. */
  readonly eventsAPiece: number
  /** Deliveries due at an endpoint beyond which a recovery pauses. */
  readonly backlogAtMost: number
  /** A worker's lease of a recovery. A piece takes a few milliseconds. */
  readonly leaseFor: number
}

/** Events about endpoints: `webhooks/report-endpoints.ts`. */
export interface ReportTuning extends JobTuning {
  /** How long after the last report an endpoint may be reported as failing again. */
  readonly failingAgainAfter: number
  /** The fraction of `disableAfter` that counts as soon disabled. */
  readonly disablingSoonAt: number
}

/** Deliveries of large commits: `fan-outs.ts`. */
export interface FanOutTuning extends JobTuning {
  /** Events read in one piece, for which the organization's writers wait. */
  readonly eventsAPiece: number
  /** Of those, for one commit and endpoint. */
  readonly eventsOfOne: number
  /** Deliveries due at an endpoint beyond which it gets no more for the moment. */
  readonly backlogAtMost: number
}

/** Sending: `send/`. */
interface SenderTuning {
  /** For one address of several, at most: a lost first packet is sent again after a second, and Node tries addresses one after another. */
  readonly perAddress: number
  /** Idle connections of an organization to one origin, which many of its endpoints may share. */
  readonly idlePerOrigin: number
  /** A timer for each idle connection would cost more. */
  readonly idleSweepEvery: number
  /** Idle time when the receiver names none: below the 5 s of common servers, as a request that crosses with a close fails. */
  readonly idleFor: number
  /** How long before the time in `Keep-Alive` a connection is closed, so that requests do not cross with the receiver's close. */
  readonly clearOfClose: number
  /** The longest idle time, even if a receiver allows more. */
  readonly idleForAtMost: number
  /** TLS sessions, some 1 KB each, and how long since their certificate was verified: expiry and revocation are noticed then. */
  readonly sessions: { readonly most: number; readonly lasts: number }
  /** Deadlines begun within this time share a timer; a timer each took a fifth of all sending. */
  readonly deadlineSlice: number
  /** Larger bodies are written in pieces of this many bytes, each when the socket has drained. */
  readonly pieceOfBody: number
  /** Characters of a failure's message in the log. */
  readonly messageLength: number
  /** Secrets whose key objects are kept, those used last. */
  readonly rememberedSecrets: number
}

/** What is read of a response, in bytes: `send/response-reader.ts`. An attempt needs the status and the beginning of the body. */
interface ResponseTuning {
  /** One head, with its status line. */
  readonly head: number
  /** Everything before the end of the final head, with interim responses. */
  readonly beginning: number
  /** The body; the rest of a longer one is not read. */
  readonly body: number
  /** Of the body, what the log keeps. */
  readonly kept: number
  /** Chunk sizes, extensions and trailers. */
  readonly framing: number
}

/** Names and their addresses: `target/`. */
interface ResolverTuning {
  /** How long an answer is used, even if its TTL is longer: addresses change. */
  readonly usedFor: number
  readonly remembered: number
  /** Addresses of a family that are tried; all are checked. An answer can hold thousands, and an attempt has no time for more. */
  readonly perFamily: number
  /** How much longer the slower address family is waited for: a quarter of the time allowed, up to this. */
  readonly grace: number
}

export interface DeliveryTuning {
  readonly concurrency: ConcurrencyTuning
  readonly drain: DrainTuning
  readonly engine: EngineTuning
  readonly leases: LeaseTuning
  readonly sweep: SweepTuning
  readonly disabling: DisableTuning
  readonly registrants: RegistrantTuning
  readonly recoveries: RecoveryTuning
  readonly reports: ReportTuning
  readonly fanOuts: FanOutTuning
  readonly sender: SenderTuning
  readonly responses: ResponseTuning
  readonly resolver: ResolverTuning
}

/** The numbers that a worker runs with. Tests may pass others. */
export const deliveryTuning: DeliveryTuning = deepFreeze({
  concurrency: {
    total: 2_048,
    unproven: 256,
    failing: 512,
    plenty: 1 / 2,
    plentyOfFailing: 1 / 8,
    perEndpoint: 16,
    perHost: 64,
    perEndpointAtFirst: 4,
    slowAfter: 1_000,
    tickEvery: 25,
    payloadsInMemory: 64 * 1024 * 1024,
  },
  drain: {
    claimSize: 16,
    claimSizeOfBacklog: 64,
    claimSizeWhenFull: 8,
    refillBelow: 16,
    freshFor: 1_000,
    completeAt: 64,
    completeAfter: 1_000,
    quietTicks: 4,
  },
  engine: {
    pollEvery: 500,
    searchesApart: 5,
    foundAtOnce: { healthy: 256, unproven: 32, failing: 4 },
    apart: { unproven: 8, failing: 20 },
    attemptsMayTake: 12_000,
    completingMayTake: 2_000,
  },
  leases: { beyondAttempt: 5_000, lostInARow: 3, sentAlone: 160 },
  sweep: {
    every: 30_000,
    soon: 10_000,
    clocksDiffer: 60_000,
    setBackBy: 1_000,
    suspiciousSweeps: 4,
    recoveryWaits: 60_000,
    queuesAtOnce: 1_000,
    deliveriesAtOnce: 2_000,
  },
  disabling: { warnAt: [0.75, 0.5], rememberedWarnings: 10_000, busyPause: 250, failedAtOnce: 2_000 },
  registrants: { every: 1_000, atOnce: 2, busyPause: 250, stopWithin: 10_000 },
  recoveries: {
    every: 250,
    atOnce: 2,
    piecesInARow: 50,
    eventsAPiece: 200,
    backlogAtMost: 1_000,
    leaseFor: 10_000,
    busyPause: 250,
    stopWithin: 10_000,
  },
  reports: {
    every: 2_000,
    atOnce: 2,
    failingAgainAfter: 5 * 60 * 1000,
    disablingSoonAt: 1 / 2,
    busyPause: 250,
    stopWithin: 10_000,
  },
  fanOuts: {
    every: 250,
    atOnce: 2,
    eventsAPiece: 1_000,
    eventsOfOne: 500,
    backlogAtMost: 1_000,
    busyPause: 250,
    stopWithin: 10_000,
  },
  sender: {
    perAddress: 2_000,
    idlePerOrigin: 512,
    idleSweepEvery: 250,
    idleFor: 4_000,
    clearOfClose: 2_000,
    idleForAtMost: 30_000,
    sessions: { most: 1_000, lasts: 60 * 60 * 1000 },
    deadlineSlice: 20,
    pieceOfBody: 64 * 1024,
    messageLength: 500,
    rememberedSecrets: 4_096,
  },
  responses: { head: 16 * 1024, beginning: 64 * 1024, body: 16 * 1024, kept: 1024, framing: 64 * 1024 },
  resolver: { usedFor: 30_000, remembered: 10_000, perFamily: 8, grace: 1_000 },
})

/** How long a lease of an endpoint's queue lasts. */
export function leaseOf(
  { answerTimeout }: Pick<DeliverySchedule, 'answerTimeout'>,
  { beyondAttempt }: LeaseTuning,
): number {
  return answerTimeout + beyondAttempt
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFreeze(part)
  return Object.freeze(value)
}
