/** What an operation came to, as a value, and how it is answered. */
import type { FastifyReply } from 'fastify'
import type { Problem } from '../kernel/errors.ts'
import { sendProblem } from './problem-reply.ts'

export type Outcome<T> =
  | { readonly outcome: 'done'; readonly value: T }
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** The request's idempotency key had committed already: its first answer is to be given again. */
  | { readonly outcome: 'replayed' }

export function refused(refusal: Problem): { readonly outcome: 'refused'; readonly problem: Problem } {
  return { outcome: 'refused', problem: refusal }
}

/** Sends what an operation came to, or says that its key had committed already. */
export function answer<T>(
  reply: FastifyReply,
  outcome: Outcome<T>,
  send: (reply: FastifyReply, body: string) => FastifyReply,
): FastifyReply | 'replayed' {
  if (outcome.outcome === 'replayed') return 'replayed'
  if (outcome.outcome === 'refused') return sendProblem(reply, outcome.problem)
  return send(reply, JSON.stringify(outcome.value))
}

/** The answer to a request that is no POST, and so carries no idempotency key. */
export function expectAnswer(answered: FastifyReply | 'replayed'): FastifyReply {
  if (answered === 'replayed') throw new Error('only a POST carries an idempotency key')
  return answered
}

/** 204. */
export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(204).send()
}
