/** The log: JSON lines with the level by its name and the time in ISO 8601, UTC. */
import pino, { type Logger, type LoggerOptions } from 'pino'

/** The form of every line, wherever it goes. */
export const logOptions: Pick<LoggerOptions, 'base' | 'timestamp' | 'formatters'> = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
}

/** What is kept of lines that could not be written yet, in bytes; more is lost. */
const mostUnwritten = 1024 * 1024

/** Lines that say more than their caller does: what a trace is called in which they were written. */
export type LogFields = () => Readonly<Record<string, string>>

/**
 * A log that writes to standard error, line by line, from this level on. No secret, token or payload is ever given to it.
 * `fields` are added to each line.
 */
export function createLog(level: string, fields?: LogFields): Logger {
  const mixin = fields && (() => ({ ...fields() }))
  const destination = pino.destination({ dest: 2, sync: true, maxLength: mostUnwritten })
  // Lines that standard error does not take, closed or full, are lost; the service goes on.
  destination.on('error', () => {})
  return pino({ ...logOptions, level, ...(mixin && { mixin }) }, destination)
}
