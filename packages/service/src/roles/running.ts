/** What every part that runs shares: how it is stopped, and where it logs. */
import pino, { type Logger } from 'pino'

/** A part of the service that runs until it is told to stop. */
export interface Running {
  /** Finishes what is under way and resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/** The log: JSON lines on standard error. No secret, token or payload is ever given to it. */
export function createLog(level: string): Logger {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
}
