/** In a dialog, while it saves nothing of its own: what others have changed since it was opened. */
import { useQuery } from '@tanstack/react-query'
import { changedFields, type Versioned } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { Notice } from '../../design/notice.tsx'
import { Time } from '../../design/time.tsx'
import { actorOf } from './activity.tsx'
import { fieldNames, useFieldWords } from './fields.ts'

export function Meanwhile<T extends Versioned>({ base, now }: { readonly base: T; readonly now: T }) {
  const words = useFieldWords()
  const changed = Object.entries(changedFields(base, now)).filter(([field]) => field in fieldNames)
  const by = useActor(changed.length === 0 ? null : base, now)
  if (changed.length === 0) return null
  return (
    <div role="status">
      <Notice tone="wait" title="Changed while you were editing">
        <ul>
          {changed.map(([field, value]) => (
            <li key={field}>
              {fieldNames[field]}: <bdi>{words(field, value)}</bdi>
            </li>
          ))}
        </ul>
        <p>
          {'Saved '}
          <Time at={now.updatedAt} />
          {by !== undefined && (
            <>
              {' by '}
              <bdi>{by}</bdi>
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}

/** Who made the latest change that has an event, as far as the key may know. */
function useActor(base: Versioned | null, { id, updatedAt }: Versioned): string | undefined {
  const { data } = useQuery({
    queryKey: ['actor', id, updatedAt],
    queryFn: async ({ signal }) => {
      const query = { subject: id, createdAfter: base?.updatedAt, include: 'actor' as const, limit: 100 }
      const { data } = await answerOf(api().events.list(query, { signal }).page())
      const last = data.at(-1)
      return (last && actorOf(last)) ?? null
    },
    enabled: base !== null,
    staleTime: Infinity,
  })
  return data ?? undefined
}
