import pino, { type Logger } from 'pino'

/** The log: JSON lines on standard error. No secret, token or payload is ever given to it. */
export function createLog(level: string): Logger {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }))
}
