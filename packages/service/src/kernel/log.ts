/** The log: JSON lines with the level by its name and the time in ISO 8601, UTC. */
import pino, { type Logger, type LoggerOptions } from 'pino'

/** The form of every line, wherever it goes. */
export const logOptions: Pick<LoggerOptions, 'base' | 'timestamp' | 'formatters'> = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
}

/** Lines that say more than their caller does: what a trace is called in which they were written. */
export type LogFields = () => Readonly<Record<string, string>>

/**
 * A log that writes to standard error, line by line, from this level on. No secret, token or payload is ever given to it.
 * `fields` are added to each line.
 */
export function createLog(level: string, fields?: LogFields): Logger {
  const mixin = fields && (() => ({ ...fields() }))
  return pino({ ...logOptions, level, ...(mixin && { mixin }) }, pino.destination({ dest: 2, sync: true }))
}
