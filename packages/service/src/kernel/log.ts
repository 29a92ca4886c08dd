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

/** The parts of an error that may be logged: where and why it failed, but no data. */

// The parts of an error that may be logged: where and why it failed, but no data.
/** PostgreSQL's `detail`, `where` and `hint` repeat rows and values, so they are left out. */
const named = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine'] as const

/** SQLSTATE class 22, data exceptions: their message quotes the value. */
const dataException = /^22[0-9A-Z]{3}$/

/** Where and why an error happened, without data of rows. */
export function loggable(error: Error): Record<string, unknown> {
  const properties = error as unknown as Readonly<Record<string, unknown>>
  const shown: Record<string, unknown> = { type: error.name }
  for (const name of named) if (properties[name] !== undefined) shown[name] = properties[name]
  const frames = error.stack?.match(/^\s+at .*$/gm)?.join('\n') ?? ''
  if (!dataException.test(String(properties.code))) shown.message = error.message
  return { ...shown, stack: frames }
}

/** Log lines of which an outage would write one for each request, connection or drain. */
interface Log {
  warn(fields: object, message: string): void
}

/** Milliseconds. */
const window = 1_000

/**
 * Writes each message at once, and then at most once a second: the latest, with the number of those `omitted` since.
 */
export function thinned(): (log: Log, fields: object, message: string) => void {
  const latest = new Map<string, { omitted: number; write: (omitted: number) => void }>()
  const later = (message: string) =>
    setTimeout(() => {
      const { omitted = 0, write } = latest.get(message) ?? {}
      if (omitted === 0 || write === undefined) {
        latest.delete(message)
        return
      }
      latest.set(message, { omitted: 0, write })
      // The latest itself is written.
      write(omitted - 1)
      later(message)
    }, window).unref()

  return (log, fields, message) => {
    const write = (omitted: number) => log.warn(omitted === 0 ? fields : { ...fields, omitted }, message)
    const known = latest.get(message)
    latest.set(message, { omitted: known === undefined ? 0 : known.omitted + 1, write })
    if (known !== undefined) return
    write(0)
    later(message)
  }
}
