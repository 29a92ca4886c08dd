/** The objects of the desk as the API shows them, and their names. */

import type {
  Booking,
  Conversation,
  Customer,
  Message,
  Note,
  Pagination,
  Teammate,
  Ticket,
} from '@deskwire/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Patch } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { keys, type Plural } from '../../api/keys.ts'
import { locale } from '../../design/time.tsx'
import { useOffered } from '../../router/offered.ts'
import type { Command, Go } from '../../router/screen.ts'
import { useCaller } from '../../session/caller.tsx'
import { useSession } from '../../session/store.ts'

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

interface Sought<T> {
  readonly kind: {
    list(
      params: { q: string; limit: number },
      options: { signal: AbortSignal },
    ): { page(): Promise<{ readonly data: readonly T[]; readonly pagination: Pagination }> }
    getMany(ids: readonly string[], options: { signal: AbortSignal }): Promise<readonly T[]>
  }
  /** Of the list that shows all results: `/bookings?view=list`. Default: there is none. */
  readonly list?: string
  readonly words: string
  readonly go: Go
  readonly signal: AbortSignal
  /** What the words name as a whole, as a number or an email address; null: nothing. */
  readonly named?: PromiseLike<readonly T[]> | null
  readonly show: (row: T) => Omit<Command, 'id' | 'run'> & { readonly address: string }
}

/** Results of a kind for the palette's words: what they name first, then what they find, and the way to all of it. */
export async function findRows<T extends { readonly id: string }>(sought: Sought<T>): Promise<Command[]> {
  const { kind, list, words, go, signal, show } = sought
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)
  const [named, found] = await answerOf(
    Promise.all([
      isId ? kind.getMany([words], { signal }) : (sought.named ?? []),
      isId || words.length < 2 ? null : kind.list({ q: words, limit: 4 }, { signal }).page(),
    ]),
  )
  const commandOf = (row: T, isNamed: boolean): Command => {
    const { address, ...shown } = show(row)
    return { id: row.id, ...shown, isNamed, run: () => go(address) }
  }
  const { total = 0, hasMore = false, totalIsExact = true } = found?.pagination ?? {}
  const all = totalIsExact ? `All ${total.toLocaleString('en')} results` : 'All results'
  const [path = '', filters] = list?.split('?') ?? []
  const address = `${path}?${new URLSearchParams([...new URLSearchParams(filters), ['q', words]])}`
  return [
    ...named.map((row) => commandOf(row, true)),
    ...(found?.data.map((row) => commandOf(row, false)) ?? []),
    ...(list !== undefined && hasMore
      ? [{ id: `all of ${list}`, title: all, detail: sayStatus(path.slice(1)), run: () => go(address) }]
      : []),
  ]
}

const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })

/** `28 Nov 2026`. */
export function sayDate(at: string): string {
  return date.format(Date.parse(at))
}

/** What tells namesakes apart, as one line: `Open · 28 Nov 2026`. */
export function sayParts(...parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part).join(' · ')
}

/** Assigns the shown object, for the palette. */
export function useAssignActions(
  row: { readonly assigneeId: string | null },
  put: ((assigneeId: string | null) => unknown) | null,
): void {
  const { may } = useCaller()
  const { teammateId } = useSession()
  const { all } = useTeammates()
  const others = all.filter(({ id, active }) => active && id !== row.assigneeId)
  const me = others.find(({ id }) => id === teammateId)
  const assign = (title: string, id: string | null) => ({ title, run: () => void put?.(id) })
  useOffered(
    put === null || !may('teammates:read')
      ? []
      : [
          ...(me === undefined ? [] : [assign('Assign to me', me.id)]),
          ...others.map(({ id, name }) => assign(`Assign to ${name}`, id)),
          ...(row.assigneeId === null ? [] : [assign('Unassign', null)]),
        ],
  )
}
