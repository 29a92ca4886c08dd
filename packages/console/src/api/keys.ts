/** Cache keys of the desk: each begins with the plural of its kind, which is how the stream of changes finds them. */
import type { kinds } from '../generated/lists.ts'

export type Plural = (typeof kinds)[number]['plural']

export const keys = {
  /** Everything of a kind. */
  all: (kind: Plural) => [kind] as const,
  /** One object, as the API shows it. */
  one: (kind: Plural, id: string) => [kind, id] as const,
  /**
   * Any number of objects. The last object in `of` may name their `conversationId` or `customerId`: changes of other
   * conversations and customers do not concern it.
   */
  list: (kind: Plural, ...of: readonly unknown[]) => [kind, 'list', ...of] as const,
  /** Of the inbox, whose order messages change too. */
  inbox: (...of: readonly unknown[]) => ['conversations', 'list', 'inbox', ...of] as const,
}

/** Whether a changed row can change what is cached under this key. */
export function concerns(key: readonly unknown[], row: object): boolean {
  const query = key.findLast((part) => part instanceof Object)
  if (query === undefined) return true
  return ['conversationId', 'customerId'].every((name) => {
    const [wanted, is]: unknown[] = [Reflect.get(query, name), Reflect.get(row, name)]
    return typeof wanted !== 'string' || typeof is !== 'string' || wanted === is
  })
}
