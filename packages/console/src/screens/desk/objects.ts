/** The objects of the desk as the API shows them, and their names. */
import { useQuery } from '@tanstack/react-query'
import { answerOf, api, type components } from '../../api/client.ts'
import type { ListPage } from '../../api/list.ts'
import { useCaller } from '../../session/caller.tsx'

type Schemas = components['schemas']
export type Customer = Schemas['Customer']
export type Conversation = Schemas['Conversation']
export type Message = Schemas['Message']
export type Ticket = Schemas['Ticket']
export type Booking = Schemas['Booking']
export type Teammate = Schemas['Teammate']

/** The object itself: not a removal record, and not the id alone that a key without read gets. */
type Shown<T> = Extract<T, { createdAt: string }>

/** The rows of a list. Only a sync has removals, and no list here is one. */
export function rowsOf<T extends { id: string }>({
  data,
  pagination,
}: {
  data: readonly T[]
  pagination: Schemas['Pagination']
}): ListPage<Shown<T>> {
  return { data: data as readonly Shown<T>[], pagination }
}

/** The response to a change, for a key that may read: the object. */
export function shown<T>(answer: T): Shown<T> {
  return answer as Shown<T>
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

/** Rows that one request by ids returns. */
const idsAtMost = 100

/** The customers with these ids that exist and that the key may read. */
export function useCustomers(ids: readonly (string | null)[]): ReadonlyMap<string, Customer> {
  const { may } = useCaller()
  const wanted = [...new Set(ids.filter((id) => id !== null))].sort()
  const known = useQuery({
    queryKey: ['customers', 'by id', wanted],
    queryFn: async ({ signal }) => {
      const all: Customer[] = []
      for (let from = 0; from < wanted.length; from += idsAtMost) {
        const query = { ids: wanted.slice(from, from + idsAtMost).join(',') }
        const page = rowsOf(await answerOf(api.GET('/v1/customers', { params: { query }, signal })))
        all.push(...page.data)
      }
      return new Map(all.map((customer) => [customer.id, customer]))
    },
    enabled: wanted.length > 0 && may('customers:read'),
    placeholderData: (before) => before,
    staleTime: 60_000,
  })
  return known.data ?? new Map()
}

/** All teammates: a page of a list has more than a desk. */
export function useTeammates(): {
  readonly all: readonly Teammate[]
  readonly nameOf: (id: string) => string
} {
  const { may } = useCaller()
  const { data } = useQuery({
    queryKey: ['teammates', 'all'],
    queryFn: async ({ signal }) => {
      const all: Teammate[] = []
      for (;;) {
        const query = { limit: 100, offset: all.length }
        const page = rowsOf(await answerOf(api.GET('/v1/teammates', { params: { query }, signal })))
        all.push(...page.data)
        if (!page.pagination.hasMore) return all.sort((a, b) => a.name.localeCompare(b.name))
      }
    },
    enabled: may('teammates:read'),
    staleTime: 30_000,
  })
  const all = data ?? []
  return { all, nameOf: (id) => all.find((one) => one.id === id)?.name ?? `…${id.slice(-8)}` }
}

/** Teammates as the options of a field or a filter. */
export function teammateOptions(all: readonly Teammate[]): readonly (readonly [string, string])[] {
  return all.map(({ id, name, active }) => [id, active ? name : `${name} (not active)`] as const)
}

/** The palette's words as a query: an id, or words. */
export function findBy(
  words: string,
): { readonly ids: string } | { readonly q: string; readonly limit: number } {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)
  return isId ? { ids: words } : { q: words, limit: 4 }
}
