/**
 * One request a tab waits for changes of every kind that the key may read, and marks what they change in the cache: what
 * is on the screen is read again, the rest when it is shown. So desk screens do not poll.
 */
import type { Change, DeskwireError } from '@deskwire/sdk'
import type { QueryClient } from '@tanstack/react-query'
import { kinds } from '../generated/lists.ts'
import { sessionToken } from '../session/store.ts'
import { answerOf, api } from './client.ts'
import { sayConnected, sayLost } from './connection.ts'
import { concerns, keys, type Plural } from './keys.ts'

/** Later than any stamp: the stream begins at its end. */
const end = '9999-12-31T23:59:59.999Z'

/** Changes within this time, in milliseconds, are read together. */
const together = 1_000

/** Of the stream, now. What is read afterwards misses nothing that comes after it. */
export async function streamPosition(signal?: AbortSignal): Promise<string> {
  const pages = api().changes.sync({ updatedAfter: end, limit: 1 }, { signal })
  const { value } = await answerOf(pages.next())
  if (value === undefined) throw new Error('a sync has a first page')
  return value.cursor
}

/** Returns what ends it. */
export function followChanges(client: QueryClient, from: string): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  for (const { plural } of kinds) client.setQueryDefaults(keys.all(plural), { staleTime: Infinity })
  void (async () => {
    // The first screen comes first; nothing is missed, as the position is known.
    await pause(together, signal)
    for (let cursor: string | undefined = from; !signal.aborted; ) {
      try {
        // A position that is lost begins again: anything may have changed.
        if (cursor === undefined) {
          cursor = await streamPosition(signal)
          await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'position' })
        }
        await answerOf(follow(client, cursor, signal))
      } catch {
        if (signal.aborted || sessionToken() === null) return
        cursor = undefined
        // The key may have lost a scope.
        await client.invalidateQueries({ queryKey: ['caller'] })
        await pause(5 * together, signal)
      }
    }
  })()
  return () => {
    leaving.abort()
    for (const { plural } of kinds) client.setQueryDefaults(keys.all(plural), {})
  }
}

async function follow(client: QueryClient, cursor: string, signal: AbortSignal): Promise<void> {
  const onFailure = ({ status }: DeskwireError) => {
    if (status === 0 || status >= 502) sayLost()
  }
  const pages = api().changes.follow({ cursor }, { signal, onFailure, pauses: { maxMs: 5_000 } })
  for await (const { changes } of pages) {
    sayConnected()
    if (changes.length === 0) continue
    await mark(client, changes)
    await pause(together, signal)
  }
}

type Row = { readonly id: string; readonly object: string; readonly updatedAt: string }

async function mark(client: QueryClient, changes: readonly Change<Row>[]): Promise<void> {
  const pluralOf = new Map<string, Plural>(kinds.map(({ name, plural }) => [name, plural]))
  const rows = changes.map((change) =>
    change.type === 'upsert'
      ? {
          id: change.row.id,
          kind: pluralOf.get(change.row.object),
          of: change.row as object,
          isRemoved: false,
        }
      : { id: change.id, kind: pluralOf.get(change.resource), of: {}, isRemoved: true },
  )
  const filters = {
    predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) =>
      rows.some(({ id, kind, of, isRemoved }) => {
        if (queryKey[2] === 'inbox' && kind === 'messages') return true
        if (queryKey[0] !== kind) return false
        return queryKey[1] === 'list' ? concerns(queryKey, of) : queryKey[1] === id && !isRemoved
      }),
  }
  // A first read that is under way may have begun before the change.
  await client.cancelQueries({
    predicate: (query) => query.state.data === undefined && filters.predicate(query),
  })
  await client.invalidateQueries(filters)
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
