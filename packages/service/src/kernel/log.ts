/** The log: JSON lines with the level by name and the time in ISO 8601, UTC. */
import pino, { type Logger, type LoggerOptions } from 'pino'

export const logOptions: Pick<LoggerOptions, 'base' | 'timestamp' | 'formatters'> = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
}

/** Further lines are lost while so many bytes wait for standard error. */
const maxUnwritten = 1024 * 1024

export type LogFields = () => Readonly<Record<string, string>>

/** Writes lines from this level on to standard error. Never pass it a secret, token or payload. */
export function createLog(level: string, fields?: LogFields): Logger {
  const mixin = fields && (() => ({ ...fields() }))
  const destination = pino.destination({ dest: 2, sync: true, maxLength: maxUnwritten })
  // When standard error is closed or full, lines are lost and the service continues.
  destination.on('error', () => {})
  return pino({ ...logOptions, level, ...(mixin && { mixin }) }, destination)
}
