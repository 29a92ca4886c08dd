/**
 * The numbers of delivery that we chose, with their reasons; milliseconds by default. An operator's settings are in
 * `DeliverySchedule`.
 */
import type { DeliverySchedule } from './model.ts'

/** Of each job loop (`kernel/job-loop.ts`). A job holds a connection, and the engine needs most of them. */
const jobs = { atOnce: 2, busyPause: 250, stopWithin: 10_000 }

/** The numbers that a worker runs with. */
export const deliveryTuning = deepFreeze({
  /** Attempts at once: `concurrency.ts`. */
  concurrency: {
    /**
     * Attempts of a worker at once. One that hangs costs up to 200 kB for its connection, and hardly any processor
     * time.
     */
    total: 2_048,
    /**
     * Of those, for endpoints without a response yet, or with a late one. The unresponsive ones count against the sum
     * of both.
     */
    unproven: 256,
    /** Of those, for endpoints that do not respond. */
    unresponsive: 512,
    /**
     * Below this fraction of all attempts, and of a priority's, there is plenty: an endpoint may then have more than
     * one.
     */
    plenty: 1 / 2,
    /** The same for the unresponsive ones: attempts that hang together end together, and would start again together. */
    plentyOfUnresponsive: 1 / 8,
    /** Attempts to one endpoint at once; the guides promise it. */
    perEndpoint: 16,
    /** Attempts to one host at once by the endpoints of an organization; each of them always has one. */
    perHost: 64,
    /** Attempts that a drain begins with. Each response lets one more in, so an endpoint that hangs holds few. */
    perEndpointAtFirst: 4,
    /** A longer attempt is charged to the unresponsive priority. */
    slowAfter: 1_000,
    /** How often a worker checks its drains: the precision of `slowAfter`. */
    tickEvery: 25,
    /** Characters of payloads that a worker holds before its drains claim only a few deliveries at once. */
    payloadsInMemory: 64 * 1024 * 1024,
  },
  /** One drain of an endpoint's queue: `drain.ts`. */
  drain: {
    /** Deliveries claimed at once. Most queues have one. */
    claimSize: 16,
    /** After a full claim: 64 are worth a statement, and are sent before their payloads are old. */
    claimSizeOfBacklog: 64,
    /** While payloads fill their memory. */
    claimSizeWhenFull: 8,
    /**
     * After a full claim, more is claimed when fewer than this wait, so that the next are there when the last are sent.
     */
    refillBelow: 16,
    /**
     * Claimed deliveries are sent within this time or claimed again, so that payload, secrets and scopes are current.
     */
    freshFor: 1_000,
    /** Results are written as soon as there are this many: a statement of 64 costs little more than one of 8. */
    completeAt: 64,
    /** Or this long after the first. */
    completeAfter: 1_000,
    /**
     * Ticks with nothing to do but wait for responses, after which a statement writes results and looks whether more is
     * due.
     */
    quietTicks: 4,
    /** And after which it looks again, as notifications may be lost. */
    quietTicksMore: 80,
    /**
     * How long a drain with nothing to do keeps its lease, so that the queue's row does not change with each commit.
     */
    restsFor: 2_000,
    /**
     * How far ahead of a worker's clock the stamp of a first attempt may be. Beyond it, the worker reads its queue from
     * the beginning.
     */
    clocksApart: 1_000,
  },
  /** Searches for due queues: `engine.ts`. */
  engine: {
    /** How often to search without a notification. */
    pollEvery: 500,
    /** The shortest time between searches, so that notifications in between share one. */
    searchesApart: 5,
    /**
     * Queues that one search finds at most. Failing ones come a few at a time, so that other attempts are not made
     * between theirs.
     */
    foundAtOnce: { responsive: 256, unproven: 32, unresponsive: 4 },
    /**
     * Between the beginnings of two queues: a handshake takes the worker 2 ms, in which it serves no other endpoint.
     */
    betweenStarts: { unproven: 8, unresponsive: 20 },
    /** How long a stop waits for attempts, and then for the database; together below the service's 15 s. */
    attemptsMayTake: 12_000,
    completingMayTake: 2_000,
  },
  /** Leases of endpoint queues: `leases.ts`. */
  leases: {
    /** How much longer than an attempt a lease lasts. */
    beyondAttempt: 5_000,
    /** Leases lost in a row, after which deliveries are sent one at a time. */
    lostInARow: 3,
    /**
     * Deliveries sent alone then, as many as a dead worker may have held: a claim of 64, the rest of the one before,
     * and as many results.
     */
    sentAlone: 160,
  },
  /** Finding work that does not say it is due: `sweep.ts`. */
  sweep: {
    every: 30_000,
    /** What is due or committed within this time is no evidence of a fault. */
    soon: 10_000,
    /** Clocks of workers may differ by this much before a lease counts as impossible. */
    clocksDiffer: 60_000,
    /** A clock that goes back by more was set back. */
    setBackBy: 1_000,
    /** Other machines may follow a clock that was set back within this many sweeps, each of which searches again. */
    suspiciousSweeps: 4,
    /** The longest wait of a recovery: it looks at a disabled endpoint each minute. */
    recoveryWaits: 60_000,
    /** Read by one statement, so that nothing waits long behind it. */
    queuesAtOnce: 1_000,
    deliveriesAtOnce: 2_000,
  },
  /** Warnings of failing endpoints, and disabling them: `disable-policy.ts`. */
  disabling: {
    /** Fractions of `disableAfter` at which the log warns, the largest first. */
    warnAt: [0.75, 0.5],
    /** Endpoints that were warned of; beyond it the oldest may be warned of again. */
    rememberedWarnings: 10_000,
    /** How long to wait when an organization's clock row is busy. */
    busyPause: 250,
    /** Pending deliveries of a disabled endpoint that one statement fails, with the queue locked. */
    failedAtOnce: 2_000,
  },
  /** Expired keys: `registrants.ts`. */
  registrants: { ...jobs, every: 1_000 },
  /** Events about endpoints: `delivery/endpoint/report-endpoints.ts`. */
  reports: {
    ...jobs,
    every: 2_000,
    /** How long after the last report an endpoint may be reported as failing again. */
    failingAgainAfter: 5 * 60 * 1000,
    /** The fraction of `disableAfter` that counts as soon disabled. */
    disablingSoonAt: 1 / 2,
  },
  /** Deliveries of large commits, and recoveries: `delivery-jobs.ts`. */
  deliveryJobs: {
    ...jobs,
    every: 250,
    /** Events read in one piece, for which the organization's writers wait. */
    eventsAPiece: 1_000,
    /** Of those, for one job. */
    eventsOfOne: 500,
    /** An event of a recovery counts as so many, as 200 take 4 to 10 ms. */
    recoveryWeight: 5,
    /** Deliveries due at an endpoint beyond which it gets no more for the moment. */
    backlogAtMost: 1_000,
  },
  /** Sending: `send/`. */
  sender: {
    /**
     * For one address of several, at most: a lost first packet is sent again after a second, and Node tries addresses
     * one after another.
     */
    perAddress: 2_000,
    /** Idle connections of an organization to one origin, which many of its endpoints may share. */
    idlePerOrigin: 512,
    /** A timer for each idle connection would cost more. */
    idleSweepEvery: 250,
    /**
     * Idle time when the receiver names none: below the 5 s of common servers, as a request that crosses with a close
     * fails.
     */
    idleFor: 4_000,
    /**
     * How long before the time in `Keep-Alive` a connection is closed, so that requests do not cross with the
     * receiver's close.
     */
    clearOfClose: 2_000,
    /** The longest idle time, even if a receiver allows more. */
    idleForAtMost: 30_000,
    /**
     * TLS sessions, some 1 KB each, and how long since their certificate was verified: expiry and revocation are
     * noticed then.
     */
    sessions: { most: 1_000, lasts: 60 * 60 * 1000 },
    /** Deadlines begun within this time share a timer; a timer each took a fifth of all sending. */
    deadlineSlice: 20,
    /** Larger bodies are written in pieces of this many bytes, each when the socket has drained. */
    pieceOfBody: 64 * 1024,
    /** Characters of a failure's message in the log. */
    messageLength: 500,
    /** Secrets whose key objects are kept, those used last. */
    rememberedSecrets: 4_096,
  },
  /**
   * What is read of a response, in bytes: `send/response-reader.ts`. An attempt needs the status and the beginning of
   * the body.
   */
  responses: {
    /** One head, with its status line. */
    head: 16 * 1024,
    /** Everything before the end of the final head, with interim responses. */
    beginning: 64 * 1024,
    /** The body; the rest of a longer one is not read. */
    body: 16 * 1024,
    /** Of the body, what the log keeps. */
    kept: 1024,
    /** Chunk sizes, extensions and trailers. */
    framing: 64 * 1024,
  },
  /** Names and their addresses: `send/resolver.ts`. */
  resolver: {
    /** How long an answer is used, even if its TTL is longer: addresses change. */
    usedFor: 30_000,
    remembered: 10_000,
    /**
     * Addresses of a family that are tried; all are checked. An answer can hold thousands, and an attempt has no time
     * for more.
     */
    perFamily: 8,
    /** How much longer the slower address family is waited for: a quarter of the time allowed, up to this. */
    grace: 1_000,
  },
})

/** Tests may pass others. */
export type ConcurrencyTuning = Readonly<typeof deliveryTuning.concurrency>

/** How long a lease of an endpoint's queue lasts. */
export function leaseOf({ answerTimeout }: Pick<DeliverySchedule, 'answerTimeout'>): number {
  return answerTimeout + deliveryTuning.leases.beyondAttempt
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFreeze(part)
  return Object.freeze(value)
}
