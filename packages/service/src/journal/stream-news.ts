/** News of the stream: which kinds of which organizations have just changed, as one process tells it to others. */

/** The channel on which processes with waiting readers listen. */
export const streamChannel = 'deskwire_stream'

/** PostgreSQL takes less than 8,000 bytes a notification. */
const payloadLimit = 7_900

/** Kinds that changed, by organization; null for a change of anything anywhere. */
export type News = ReadonlyMap<string, ReadonlySet<string>> | null

/** `organization:kind+kind,…`; nothing when that is too much for one notification. */
export function encodeNews(news: ReadonlyMap<string, ReadonlySet<string>>): string {
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
