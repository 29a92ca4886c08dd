/** The names that the clients give to operations, so that they are the same in both SDKs and on the command line. */
import type { Route } from './api-module.ts'

const verbs = { get: 'list', post: 'create', patch: 'update', delete: 'delete' } as const
const verbsOfOne = { ...verbs, get: 'get' } as const

/**
 * Resource and method, `tickets.list`: as the route says, or from its address. `/v1/tickets/{id}/no-show` is
 * `tickets.noShow`, and what is within another resource has its own name, `deliveries.retry`. Null for an address
 * that clients have no method for.
 */
export function clientMethod({
  client,
  method,
  path,
}: Pick<Route, 'client' | 'method' | 'path'>): string | null {
  if (client !== undefined) return client
  const [version, ...segments] = path.replace('/admin/', '/').slice(1).split('/')
  if (version !== 'v1') return null
  const isId = (segment: string | undefined) => segment?.startsWith('{') === true
  const names = segments.filter((segment) => !isId(segment))
  // Behind the last id, one name is a method; before it, the last name is the resource.
  const within = segments.findLastIndex(isId)
  const before = within === -1 ? segments.slice(0, 1) : segments.slice(0, within)
  const resource = before.findLast((segment) => !isId(segment)) ?? ''
  const last = names.at(-1) ?? ''
  const isAction = last !== resource
  if (!isAction) return `${camel(resource)}.${(within === -1 ? verbs : verbsOfOne)[method]}`
  return `${camel(resource)}.${camel(method === 'delete' ? `delete-${last}` : last)}`
}

function camel(words: string): string {
  return words.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
