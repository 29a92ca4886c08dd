/** The objects of the desk as the API shows them, and their names. */

import type { Booking, Conversation, Customer, List, Message, Note, Teammate, Ticket } from '@deskwire/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Patch } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { keys, type Plural } from '../../api/keys.ts'
import { useCaller } from '../../session/caller.tsx'

export type { Booking, Conversation, Customer, Message, Note, Teammate, Ticket }

/** What each kind's objects are. */
interface Objects {
  readonly bookings: Booking
  readonly conversations: Conversation
  readonly customers: Customer
  readonly messages: Message
  readonly notes: Note
  readonly teammates: Teammate
  readonly tickets: Ticket
}

export type ObjectOf<K extends Plural> = Objects[K]

/** Kinds whose fields can be changed. */
export type Editable = Exclude<Plural, 'messages'>

export function readOne<K extends Plural>(kind: K, id: string, signal?: AbortSignal): Promise<ObjectOf<K>> {
  return answerOf(api()[kind].get(id, { signal }) as Promise<unknown>) as Promise<ObjectOf<K>>
}

/** Changes the version with this entity tag. */
export function writeOne<K extends Editable>(
  kind: K,
  id: string,
  patch: Patch,
  ifMatch: string,
): Promise<ObjectOf<K>> {
  return answerOf(api()[kind].update(id, patch, { ifMatch }) as Promise<unknown>) as Promise<ObjectOf<K>>
}

/** A customer's name: the first of what there is. */
export function nameOf({ name, company, email, phone, externalId }: Customer): string {
  return name || email || phone || company || externalId || 'Unnamed customer'
}

/** `on_hold` as `On hold`. */
export function sayStatus(status: string): string {
  const words = status.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The customers with these ids that exist and that the key may read. */
export function useCustomers(ids: readonly (string | null)[]): ReadonlyMap<string, Customer> {
  const { may } = useCaller()
  const wanted = [...new Set(ids.filter((id) => id !== null))].sort()
  const known = useQuery({
    queryKey: keys.list('customers', 'by id', wanted),
    queryFn: async ({ signal }) => {
      const all = await answerOf(api().customers.getMany(wanted, { signal }))
      return new Map(all.map((customer) => [customer.id, customer]))
    },
    enabled: wanted.length > 0 && may('customers:read'),
    placeholderData: (before) => before,
    staleTime: 60_000,
  })
  return known.data ?? new Map()
}

/** All teammates: a page of a list has more than a desk. */
export const everyTeammate = queryOptions({
  queryKey: keys.list('teammates', 'all'),
  queryFn: async ({ signal }) => {
    const all = await answerOf(api().teammates.list({}, { signal }).toArray({ limit: Infinity }))
    return all.sort((a, b) => a.name.localeCompare(b.name))
  },
  staleTime: 30_000,
})

/** Teammates and their names, as far as the key may read them. */
export function useTeammates(): {
  readonly all: readonly Teammate[]
  readonly nameOf: (id: string) => string
} {
  const { may } = useCaller()
  const { data } = useQuery({ ...everyTeammate, enabled: may('teammates:read') })
  const all = data ?? []
  return { all, nameOf: (id) => all.find((one) => one.id === id)?.name ?? `…${id.slice(-8)}` }
}

/** Teammates as the options of a field or a filter. */
export function teammateOptions(all: readonly Teammate[]): readonly (readonly [string, string])[] {
  return all.map(({ id, name, active }) => [id, active ? name : `${name} (inactive)`] as const)
}

/** What a list may be filtered by: a teammate, or nobody. */
export function assigneeOptions(all: readonly Teammate[]): readonly (readonly [string, string])[] {
  return [['null', 'Unassigned'], ...teammateOptions(all)]
}

/** Rows for the palette's words: an id, or words. */
export function findBy<T>(
  kind: {
    list(params: { q: string }, options: { signal: AbortSignal }): List<T>
    getMany(ids: readonly string[], options: { signal: AbortSignal }): Promise<T[]>
  },
  words: string,
  signal: AbortSignal,
): Promise<T[]> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)
  return answerOf(
    isId ? kind.getMany([words], { signal }) : kind.list({ q: words }, { signal }).toArray({ limit: 4 }),
  )
}
