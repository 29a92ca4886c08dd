/**
 * The methods of resources, each from a line that `npm run generate` writes: shorter than a class, and pages download
 * it.
 */
import { byCursor, byNumberOrId, byWait, List, PagedList } from './list.ts'
import type { CallOptions } from './options.ts'
import type { Method } from './retry.ts'
import type { Send } from './transport.ts'

/**
 * What a method takes between its ids and its options: a `body`; a `query`; the filters of a list, whose next page
 * begins after a row (`list`), at a `cursor` or after a `wait`; nothing, for a `document` of any size.
 */
type Sort = 'body' | 'query' | 'document' | 'list' | 'cursor' | 'wait'

/** Adds a method for each line to `resource`: `{ recover: 'POST /webhooks/{}/recover body' }`. */
export const withMethods = <T extends object>(
  send: Send,
  lines: Readonly<Record<string, string>>,
  resource: object = {},
): T => {
  const methods = Object.entries(lines).map(([name, line]) => [name, methodOf(send, line)])
  return Object.assign(resource, Object.fromEntries(methods)) as T
}

const methodOf = (send: Send, line: string) => {
  const [method, path = '', sort] = line.split(' ') as [Method, string, Sort?]
  return (...given: unknown[]) => {
    const ids = given.splice(0, path.split('{}').length - 1) as string[]
    const isDocument = sort === 'document'
    const input = sort === undefined || isDocument ? undefined : given.shift()
    const options = given[0] as CallOptions | undefined
    const ask = (query: object) => send<never>({ method, path, ids, query }, options)
    if (sort === undefined || isDocument || sort === 'body')
      return send({ method, path, ids, body: input, isDocument }, options)
    const params = input ?? {}
    if (sort === 'query') return ask(params)
    if (sort === 'list') return new List({ ask, params, ...byNumberOrId })
    return new PagedList(ask, params, sort === 'wait' ? byWait : byCursor)
  }
}
