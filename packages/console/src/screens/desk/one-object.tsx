/** The screen of one object: it is loaded, shown, or removed. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ComponentType, ReactNode } from 'react'
import { keys, type Plural } from '../../api/keys.ts'
import { markRemoved } from '../../api/live.ts'
import { isOfRemoved } from '../../api/problem.ts'
import { Page } from '../../design/page.tsx'
import { ErrorState, Loading, Removed } from '../../design/states.tsx'
import { type ObjectOf, readOne } from './objects.ts'

interface OneObjectProps<K extends Plural> {
  readonly kind: K
  readonly id: string
  /** `Customer`. */
  readonly noun: string
  readonly trail?: ReactNode
  /** What it is shown in until it is loaded, and once it is removed. */
  readonly Frame?: ComponentType<{ title: string; trail?: ReactNode; children: ReactNode }>
  readonly children: (row: ObjectOf<K>) => ReactNode
}

export function OneObject<K extends Plural>({
  kind,
  id,
  noun,
  trail,
  Frame = Page,
  children,
}: OneObjectProps<K>) {
  const client = useQueryClient()
  const queryKey = keys.one(kind, id)
  const read = useQuery({
    queryKey,
    // Null: it was there, and is removed.
    queryFn: async ({ signal }): Promise<ObjectOf<K> | null> => {
      try {
        return await readOne(kind, id, signal)
      } catch (error) {
        if (!isOfRemoved(error) || client.getQueryData(queryKey) === undefined) throw error
        markRemoved(client, kind, id)
        return null
      }
    },
  })
  if (read.data != null) return children(read.data)
  return (
    <Frame title={noun} trail={trail}>
      {read.data === null ? (
        <Removed noun={noun.toLowerCase()} />
      ) : read.error === null ? (
        <Loading />
      ) : (
        <ErrorState error={read.error} retry={() => void read.refetch()} />
      )}
    </Frame>
  )
}
