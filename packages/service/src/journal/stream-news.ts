/**
 * News of the stream: which kinds of which organizations have just changed, told to every process that has readers
 * waiting. Sent after the commit and beside it, what happens within ten milliseconds at once; it is a hint, and losing
 * one delays a reader until the poll (waiting-readers.ts).
 */
import type { Pool } from 'pg'

/** The channel on which processes with waiting readers listen. */
export const streamChannel = 'deskwire_stream'

/** Milliseconds. */
const atMostEvery = 10

/** PostgreSQL takes less than 8,000 bytes a notification. */
const payloadLimit = 7_900

/** Kinds that changed, by organization; null for a change of anything anywhere. */
export type News = ReadonlyMap<string, ReadonlySet<string>> | null

/** Tells of commits: at once, and then at most once in ten milliseconds a process. */
export function createStreamNews(
  pool: Pool,
  onError: (error: Error) => void,
): (organizationId: string, kinds: Iterable<string>) => void {
  let gathered = new Map<string, Set<string>>()
  let quiet = false

  function send(): void {
    const payload = encodeNews(gathered)
    gathered = new Map()
    pool.query(`select pg_notify('${streamChannel}', $1)`, [payload]).catch(onError)
    quiet = true
    setTimeout(() => {
      quiet = false
      if (gathered.size > 0) send()
    }, atMostEvery)
  }

  return (organizationId, kinds) => {
    const known = gathered.get(organizationId) ?? new Set()
    for (const kind of kinds) known.add(kind)
    gathered.set(organizationId, known)
    if (!quiet) send()
  }
}

/** `organization:kind+kind,…`; nothing when that is too much for one notification. */
function encodeNews(news: ReadonlyMap<string, ReadonlySet<string>>): string {
  const text = [...news].map(([organization, kinds]) => `${organization}:${[...kinds].join('+')}`).join(',')
  return text.length > payloadLimit ? '' : text
}

/** What a notification tells; one that names nothing may be about anything. */
export function decodeNews(payload: string): News {
  if (payload === '') return null
  return new Map(
    payload.split(',').map((part) => {
      const [organization = '', kinds = ''] = part.split(':')
      return [organization, new Set(kinds.split('+'))]
    }),
  )
}
