/**
 * A pace for refusals: whoever is told 400 or 429 and asks again at once is answered hundreds of times a second, for nothing. While others
 * are served and processors are short, an organization's refusals go out one after another with a rest in between (decision 74). What is
 * done for it does not wait behind them.
 */
import type { FastifyInstance } from 'fastify'
import type { RestAfter } from '../kernel/room-for-others.ts'

/** What a refusal counts for, in milliseconds of work, as much as a request without a key: a fraction of that, and it is for nothing. */
const worth = 3
/** Refusals of one organization that may wait; what comes on top of them goes out at once. */
const waitingAtMost = 300

export class Refusals {
  readonly #restAfter: RestAfter
  /** Of organizations that rest, the refusals that wait, the first to come first. */
  readonly #queues = new Map<string, (() => void)[]>()

  constructor(restAfter: RestAfter) {
    this.#restAfter = restAfter
  }

  /** Calls `go` when the organization's next refusal may go out, which is at once as a rule. */
  enter(organizationId: string, go: () => void): void {
    const queue = this.#queues.get(organizationId)
    if (queue !== undefined && queue.length < waitingAtMost) {
      queue.push(go)
      return
    }
    go()
    if (queue === undefined) this.#rest(organizationId, [])
  }

  /** Whoever is to be told has gone: nothing waits for that. */
  leave(organizationId: string, go: () => void): void {
    const queue = this.#queues.get(organizationId) ?? []
    const at = queue.indexOf(go)
    if (at !== -1) queue.splice(at, 1)
  }

  #rest(organizationId: string, queue: (() => void)[]): void {
    const rest = this.#restAfter(organizationId, worth)
    if (rest >= 1) {
      this.#queues.set(organizationId, queue)
      setTimeout(() => this.#serve(organizationId, queue), rest)
      return
    }
    this.#queues.delete(organizationId)
    for (const go of queue) go()
  }

  #serve(organizationId: string, queue: (() => void)[]): void {
    const next = queue.shift()
    if (next === undefined) this.#queues.delete(organizationId)
    else {
      next()
      this.#rest(organizationId, queue)
    }
  }
}

/**
 * Holds answers of 4xx to keys that are good. Those without one have `Strangers`. What a client no longer waits for is ended while its
 * connection closes: a moment later Fastify takes a hook whose answer was not sent for one that lets the request in.
 */
export function paceRefusals(server: FastifyInstance, refusals: Refusals): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    const organizationId = request.caller?.organizationId ?? request.refusedTo
    const isRefusal = reply.statusCode >= 400 && reply.statusCode < 500
    if (organizationId === null || !isRefusal || reply.raw.destroyed) return done(null, payload)
    const go = () => {
      reply.raw.off('close', leave)
      done(null, payload)
    }
    const leave = () => {
      refusals.leave(organizationId, go)
      done(null, payload)
    }
    reply.raw.once('close', leave)
    refusals.enter(organizationId, go)
  })
}
