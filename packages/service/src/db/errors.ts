/** What an error of the database says of the statement that it ends. */
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'

/** PostgreSQL's lock_not_available. The statement has done nothing. */
export function isHeldElsewhere(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === '55P03'
}

/** Whether a statement or a lock took too long, or the server is short of something. */
export function ranOut({ code }: DatabaseError): boolean {
  return /^(57014|55P03|53)/.test(code ?? '')
}

/**
 * Whether the database said that the statement did not take effect. A lost connection says nothing: it may have
 * committed, and running it again could commit it twice.
 */
export function rolledBack(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(08|57P|58|XX)/.test(error.code ?? 'XX')
}

/** Pauses between tries, in milliseconds: what holds a clock for long is a commit of seconds. */
const pauses = [50, 100, 250, 500, 1_000, 1_000, 1_000, 1_000, 1_000]

/**
 * Runs what gives up on a lock soon again and again, for some ten seconds: meanwhile it waits here, and a connection is
 * free for others. Rejects as the last try does.
 */
export async function untilFree<A>(run: () => Promise<A>): Promise<A> {
  for (const pause of pauses) {
    try {
      return await run()
    } catch (error) {
      if (!isHeldElsewhere(error)) throw error
      await delay(pause)
    }
  }
  return await run()
}
