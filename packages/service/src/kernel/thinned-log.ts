/** Log lines of which an outage would write one for each request, connection or drain. */
interface Log {
  warn(fields: object, message: string): void
}

/** Milliseconds. */
const window = 1_000

/** Writes each message at once, and then at most once a second: the latest, with the number of those `omitted` since. */
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
