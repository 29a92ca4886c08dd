/** Records when keys were last used: after the response, at most once a minute. A failed write is only logged. */
import type { Pool } from 'pg'
import { LruMap } from '../kernel/lru-map.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/** Precision of `lastUsedAt`, in milliseconds. */
const usesAreExactTo = 60_000

/** Beyond so many keys, one may be written twice in a minute. */
const mostEntries = 10_000

interface KeyUse {
  readonly organizationId: string
  readonly apiKeyId: string
}

export interface UseRecorder {
  note(key: KeyUse): void
  /** Resolves when everything noted so far is written, or has failed. */
  settled(): Promise<void>
}

export function createUseRecorder(options: {
  readonly pool: Pool
  readonly clock: Clock
  readonly onError: (error: Error) => void
}): UseRecorder {
  const { pool, clock, onError } = options
  const written = new LruMap<string, number>(mostEntries)
  /** Writes run one after another, so that this uses at most one connection. */
  let writing: Promise<void> = Promise.resolve()

  return {
    note({ organizationId, apiKeyId }) {
      const now = clock.now()
      const last = written.get(apiKeyId)
      if (last !== undefined && Math.abs(now - last) < usesAreExactTo) return
      written.set(apiKeyId, now)
      writing = writing.then(() => write(organizationId, apiKeyId, now).catch(onError))
    },
    settled: () => writing,
  }

  /** Writes nothing for a key that was revoked meanwhile. */
  async function write(organizationId: string, apiKeyId: string, now: number): Promise<void> {
    await pool.query({
      name: 'note_key_use',
      text: `insert into api_key_uses as u (organization_id, api_key_id, last_used_at)
             select k.organization_id, k.id, $3 from api_keys k where k.organization_id = $1 and k.id = $2
             on conflict (organization_id, api_key_id) do update
               set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
      values: [organizationId, apiKeyId, formatTimestamp(now)],
    })
  }
}
