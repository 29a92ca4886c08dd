/** What an error of the database says of the statement that it ends. */
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
