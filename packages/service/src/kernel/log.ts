/** The log: JSON lines with the level by name and the time in ISO 8601, UTC. */
import pino, { type Logger, type LoggerOptions } from 'pino'

/** The format of every line. */
export const logOptions: Pick<LoggerOptions, 'base' | 'timestamp' | 'formatters'> = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
}

/** Bytes of lines that standard error has not accepted yet; further lines are lost. */
const mostUnwritten = 1024 * 1024

/** Fields that are added to every line, such as the current trace. */
export type LogFields = () => Readonly<Record<string, string>>

/**
 * A log that writes lines from this level on to standard error. Never pass it a secret, token or payload.
 * `fields` are added to each line.
 */
export function createLog(level: string, fields?: LogFields): Logger {
  const mixin = fields && (() => ({ ...fields() }))
  const destination = pino.destination({ dest: 2, sync: true, maxLength: mostUnwritten })
  // When standard error is closed or full, lines are lost and the service continues.
  destination.on('error', () => {})
  return pino({ ...logOptions, level, ...(mixin && { mixin }) }, destination)
}
