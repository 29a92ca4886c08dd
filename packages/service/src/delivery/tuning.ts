/**
 * Every number of delivery that was chosen and not asked for, with its unit and its reason. What an operator sets is elsewhere
 * (`DeliverySchedule`); what a protocol or a released function says is no choice. Durations are in milliseconds where no other unit is named.
 */
import type { JobLoopOptions } from '../kernel/job-loop.ts'
import type { DeliverySchedule, PriorityClass } from './model.ts'

/** For each priority class. */
type ByClass = Readonly<Record<PriorityClass, number>>

/** How many attempts at once: `concurrency.ts`. */
export interface ConcurrencyTuning {
  /**
   * Attempts that a worker makes at once. One that hangs costs up to 200 kB for its connection, by what fewer of them saved, and
   * next to no time.
   */
  readonly total: number
  /** Of those, for endpoints of which nothing is known, or that responded late; with the failing no more than both. */
  readonly unproven: number
  /** Of those, for endpoints that do not respond. */
  readonly failing: number
  /** The part of all attempts, and of a class's, below which there is plenty: then an endpoint gets more than one. */
  readonly plenty: number
  /** The same of the failing: attempts that hang together are given up together, and started again together. */
  readonly plentyOfFailing: number
  /** Attempts to one endpoint at once, which the guides promise. */
  readonly perEndpoint: number
  /**
   * Attempts that a drain begins with, or one where the worker has `enough`; each that is answered lets one more in. So a receiver that answers has sixteen after a few
   * answers, and one that hangs keeps no more than these, unless there is plenty.
   */
  readonly perEndpointAtFirst: number
  /**
   * Attempts of a worker at once that keep its processor busy. Beyond them only an endpoint that takes its time gets more than it has: with
   * any other the worker itself is what is slow, and more at once are but more connections, and more memory for them.
   */
  readonly enough: number
  /** An endpoint takes its time if it needs longer for an answer, and longer than these many times what the worker's timers are late. */
  readonly quick: number
  readonly turnsOfAnAttempt: number
  /** An attempt that takes longer is charged to the failing. */
  readonly slowAfter: number
  /** How often a worker looks after its drains: the exactness of `slowAfter`. */
  readonly tickEvery: number
  /** Characters of payloads that a worker holds before its drains claim only a few deliveries at once. */
  readonly payloadsInMemory: number
}

/** One drain of an endpoint's queue: `drain.ts`. */
export interface DrainTuning {
  /** Deliveries claimed at once. Most queues have one. */
  readonly claimSize: number
  /** After a full claim: 64 are worth their statement, and are sent before their payload is old. */
  readonly claimSizeOfBacklog: number
  /** Deliveries claimed at once while payloads fill the memory that they may have. */
  readonly claimSizeWhenFull: number
  /** After a full claim, claimed deliveries are added to below this: the next are there when the last are sent. */
  readonly refillBelow: number
  /**
   * What was claimed is sent within this, or claimed again: payload, secrets, scopes and the endpoint itself are to be
   * those of the moment, however slow the receiver is.
   */
  readonly freshFor: number
  /** Results are completed as soon as there are so many: a statement of 64 costs little more than one of 8. */
  readonly completeAt: number
  /** Or so long after the first. */
  readonly completeAfter: number
  /** Ticks with nothing to do but wait for answers, after which the drain listens. */
  readonly quietTicks: number
}

/** Who looks for what is due, and begins drains: `engine.ts`. */
interface EngineTuning {
  /** How often to look without being woken. */
  readonly pollEvery: number
  /**
   * The shortest time from one search to the next: wakes in between share one search. Without it, a
   * crowd of queues that wait for room made thousands of searches a second.
   */
  readonly looksApart: number
  /**
   * Endpoint queues that one search finds at most. A commit makes many due at once; those that rarely respond come a few
   * at a time, so that the attempts at the others are not made between theirs.
   */
  readonly foundAtOnce: ByClass
  /**
   * From the beginning of one queue to that of the next: a handshake takes the worker 2 ms, in which no healthy endpoint is served. Forty new
   * endpoints that got their first events together delayed the others by 200 to 300 ms.
   */
  readonly apart: Readonly<Record<Exclude<PriorityClass, 'healthy'>, number>>
  /** How long a stop waits for attempts, and then for the database; together below the service's 15 s. */
  readonly attemptsMayTake: number
  readonly completingMayTake: number
}

/** Leases of endpoint queues, and what their loss means: `leases.ts`. */
interface LeaseTuning {
  /** How much longer than an attempt a worker has a queue without a sign of life. */
  readonly beyondAnswer: number
  /** Leases lost in a row, after which deliveries are sent one at a time. */
  readonly lostInARow: number
  /**
   * So many deliveries are sent alone then, and fewer when no more are due: those that a worker may have claimed and not completed
   * when it died are the first that are due. A claim of 64, what was left of the one before, and as many results.
   */
  readonly sentAlone: number
}

/** Looking after what does not say that it is due: `sweep.ts`. */
interface SweepTuning {
  readonly every: number
  /** What is looked at within this is none to worry about: it may just have been let go, or is being committed. */
  readonly soon: number
  /** Clocks of workers may differ by so much before one takes the other's leases for impossible. */
  readonly clocksDiffer: number
  /** A clock that goes back by more was set back. */
  readonly setBackBy: number
  /** Others may follow a clock that was set back within so many sweeps, which search again. */
  readonly suspiciousSweeps: number
  /** A recovery neither waits nor is leased for longer at a time: it looks at a disabled endpoint each minute. */
  readonly recoveryWaits: number
  /** Queues, and pending deliveries, that one statement looks at: nothing waits for long behind it, however many there are. */
  readonly queuesAtOnce: number
  readonly deliveriesAtOnce: number
}

/** Warning of endpoints that fail, and disabling them: `disable-policy.ts`. */
export interface DisableTuning {
  /** Parts of the time that a failing endpoint has, at which the log warns; the largest first. */
  readonly warnAt: readonly number[]
  /** Endpoints that were warned of: beyond, the oldest may be warned of again. */
  readonly rememberedWarnings: number
  /** How long to leave an organization alone whose clock row others hold. */
  readonly busyPause: number
  /** Deliveries of a disabled endpoint failed in one statement, under which its queue is locked. */
  readonly failedAtOnce: number
}

/** A loop of jobs: `kernel/job-loop.ts`. A job holds a connection, of which the engine needs more. */
type JobTuning = Pick<JobLoopOptions<never>, 'every' | 'stopWithin' | 'atOnce' | 'busyPause'>

/** Keys that have expired: `registrants.ts`. One index is probed, which holds only expiries to come. */
export type RegistrantTuning = JobTuning

/** Recoveries: `recoveries.ts`. */
export interface RecoveryTuning extends JobTuning {
  /** Pieces of one recovery in a row, after which others have theirs. */
  readonly piecesInARow: number
  /** Events looked at in one piece, for which the organization's writers wait. Measured: 200 take 4 to 10 ms. */
  readonly eventsAPiece: number
  /** Deliveries due at an endpoint beyond which a recovery pauses. */
  readonly backlogAtMost: number
  /** How long a recovery stays a worker's without a piece being done. A piece takes a few milliseconds. */
  readonly leaseFor: number
}

/** What large commits have left to be made: `fan-outs.ts`. */
export interface FanOutTuning extends JobTuning {
  /** Events looked at in one piece, for which the organization's writers wait. */
  readonly eventsAPiece: number
  /** And of those, for one commit and endpoint. */
  readonly eventsOfOne: number
  /** Deliveries due at an endpoint beyond which it gets no more for the moment. */
  readonly backlogAtMost: number
}

/** What speaks to receivers: `send/`. */
interface SenderTuning {
  /**
   * For one address of several, or a quarter of the deadline: enough for a first packet that is lost, which comes again after a
   * second. Node gives up one address before it tries the next, so to wait less would be to miss the one that works.
   */
  readonly perAddress: number
  /**
   * Idle connections of an organization kept to one origin. Many of its endpoints may share it: with as few as one of
   * them may use, a hundred endpoints of one host spent a sixth of the worker's time in handshakes.
   */
  readonly idlePerOrigin: number
  /** How often connections that were idle for too long are looked for: a timer for each would cost more. */
  readonly idleSweepEvery: number
  /**
   * How long a connection is kept without a request when its receiver does not say: less than common servers wait before they close
   * it (5 s and more), because a request that crosses with such a close is a failed attempt.
   */
  readonly idleFor: number
  /** How long before the time that a receiver says (Keep-Alive) it is given up, so that the next request keeps clear of that moment. */
  readonly clearOfClose: number
  /** The longest time, even if a receiver allows more. */
  readonly idleForAtMost: number
  /**
   * TLS sessions that are kept to go on with, some 1 KB each, and for how long since their certificate was verified: what has expired or
   * was taken back meanwhile is noticed then.
   */
  readonly sessions: { readonly most: number; readonly lasts: number }
  /** Deadlines begun within this share a timer; a timer each took a fifth of all sending. */
  readonly deadlineSlice: number
  /** Bytes that a larger body goes in, each piece when the socket has room for it. */
  readonly pieceOfBody: number
  /** Characters of a failure's message that the log shows. */
  readonly messageLength: number
  /** Secrets whose key objects are kept, those used last, so that few are opened again. */
  readonly rememberedSecrets: number
}

/** What is read of an answer, in bytes: `send/answer-reader.ts`. An attempt needs its status and the beginning of its body. */
interface AnswerTuning {
  /** One head, its status line included. */
  readonly head: number
  /** All before the head of the final answer is complete, interim answers included. */
  readonly beginning: number
  /** The body; the rest of a longer one is not read. */
  readonly body: number
  /** Of the body, what the log keeps. */
  readonly kept: number
  /** Between the chunks, and after them: what a small chunk drags along is bounded too. */
  readonly framing: number
}

/** Names and their addresses: `target/`. */
interface ResolverTuning {
  /** How long an answer is used, even if its own time to live is longer: addresses change. */
  readonly usedFor: number
  /** Names that are remembered. */
  readonly remembered: number
  /**
   * Addresses of a family that are handed on, of any number that were checked: an answer can hold thousands, and no attempt
   * has the time to try more.
   */
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
  readonly fanOuts: FanOutTuning
  readonly sender: SenderTuning
  readonly answers: AnswerTuning
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
    perEndpointAtFirst: 4,
    enough: 64,
    quick: 10,
    turnsOfAnAttempt: 16,
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
    looksApart: 5,
    foundAtOnce: { healthy: 256, unproven: 32, failing: 4 },
    apart: { unproven: 8, failing: 20 },
    attemptsMayTake: 12_000,
    completingMayTake: 2_000,
  },
  leases: { beyondAnswer: 5_000, lostInARow: 3, sentAlone: 160 },
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
  answers: { head: 16 * 1024, beginning: 64 * 1024, body: 16 * 1024, kept: 1024, framing: 64 * 1024 },
  resolver: { usedFor: 30_000, remembered: 10_000, perFamily: 8, grace: 1_000 },
})

/** How long a worker has an endpoint's queue without a sign of life. */
export function leaseOf(
  { answerTimeout }: Pick<DeliverySchedule, 'answerTimeout'>,
  { beyondAnswer }: LeaseTuning,
): number {
  return answerTimeout + beyondAnswer
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') deepFreeze(part)
  return Object.freeze(value)
}
