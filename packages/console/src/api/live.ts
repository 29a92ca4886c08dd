/**
 * One request a tab waits for changes of every kind that the key may read, and marks what they change in the cache:
 * what is on the screen is read again, the rest when it is shown. So desk screens do not poll.
 */
import type { Change, DeskwireError } from '@deskwire/sdk'
import type { QueryClient } from '@tanstack/react-query'
import { kinds } from '../generated/lists.ts'
import { forgetDraftsOf } from '../session/drafts.ts'
import { sessionToken } from '../session/store.ts'
import { answerOf, api } from './client.ts'
import { sayConnected, sayLost } from './connection.ts'
import { concerns, keys, type Plural } from './keys.ts'
import { Unreachable } from './problem.ts'

/** Later than any stamp: the stream begins at its end. */
const end = '9999-12-31T23:59:59.999Z'

/** Milliseconds. */
const together = 1_000

interface Hooks {
  /** What is read from now on is kept current. */
  readonly onReady: () => void
  readonly onError: (error: Error) => void
}

/** Returns what ends it. */
export function followChanges(client: QueryClient, { onReady, onError }: Hooks): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  for (const { plural } of kinds) client.setQueryDefaults(keys.all(plural), { staleTime: Infinity })
  void (async () => {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        await answerOf(
          follow(client, signal, {
            // A position that is lost begins again: anything may have changed.
            onReady: () => {
              if (!isFirst) void client.invalidateQueries()
              onReady()
            },
            onError,
          }),
        )
      } catch (error) {
        if (signal.aborted || sessionToken() === null) return
        onError(error as Error)
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

/** From now on: the first page is empty, and comes at once. */
async function follow(client: QueryClient, signal: AbortSignal, { onReady, onError }: Hooks): Promise<void> {
  let isReady = false
  const onFailure = (error: DeskwireError) => {
    if (error.status === 0 || error.status >= 502) sayLost()
    if (!isReady) onError(new Unreachable(error))
  }
  const pages = api().changes.follow({ updatedAfter: end }, { signal, onFailure, pauses: { maxMs: 5_000 } })
  for await (const { changes } of pages) {
    sayConnected()
    if (!isReady) onReady()
    else if (changes.length === 0) continue
    isReady = true
    await mark(client, changes)
    // The first screen comes first, and what changes within this time is read together.
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
        // What was found may be what is gone.
        if (queryKey[0] === 'palette') return isRemoved
        if (queryKey[0] !== kind) return false
        return queryKey[1] === 'list' ? concerns(queryKey, of) : queryKey[1] === id && !isRemoved
      }),
  }
  // A first read that is under way may have begun before the change.
  await client.cancelQueries({
    predicate: (query) => query.state.data === undefined && filters.predicate(query),
  })
  for (const { id, kind, isRemoved } of rows)
    if (isRemoved && kind !== undefined) markRemoved(client, kind, id)
  await client.invalidateQueries(filters)
}

const removed = new Set<string>()

/** Its screen and its row in a list show from now on that it is removed, and nothing of it is kept. */
export function markRemoved(client: QueryClient, kind: Plural, id: string): void {
  removed.add(id)
  if (client.getQueryData(keys.one(kind, id)) !== undefined) client.setQueryData(keys.one(kind, id), null)
  forgetDraftsOf(id)
}

/** Whether this page knows of its removal. */
export function isRemoved(id: string): boolean {
  return removed.has(id)
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
