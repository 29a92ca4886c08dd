/** The scopes that a key can have. */
import { scopes } from '../../generated/lists.ts'

export type Scope = (typeof scopes)[number]

interface ScopeRow {
  readonly of: string
  /** The scopes, each with its verb. */
  readonly ways: readonly (readonly [scope: Scope, word: string])[]
}

const desk = scopes.filter((scope) => scope.endsWith(':read') && !scope.startsWith('webhooks:'))

/** The scopes of common programs. */
export const presets: readonly (readonly [title: string, scopes: readonly Scope[]])[] = [
  ['Read only', scopes.filter((scope) => scope.endsWith(':read'))],
  ['Mirror', desk],
  [
    'Support agent',
    [...desk, 'conversations:write', 'messages:write', 'notes:write', 'tickets:write', 'bookings:write'],
  ],
  ['Integration', scopes.filter((scope) => /:(read|write)$/.test(scope))],
]

/** `tickets`, with `Read` and `Write`. */
export const scopeRows: readonly ScopeRow[] = [
  ...Map.groupBy(
    scopes.filter((scope) => scope !== '*'),
    (scope) => scope.replace(/:.*/, ''),
  ),
].map(([of, own]) => ({
  of: of === 'api_keys' ? 'API keys' : of.replaceAll('_', ' '),
  ways: own.map((scope) => [scope, verbOf(scope)]),
}))

function verbOf(scope: Scope): string {
  const verb = scope.slice(scope.indexOf(':') + 1)
  return verb.charAt(0).toUpperCase() + verb.slice(1)
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope))
}

/** As short as can be said: `All scopes`, `tickets:read`, a preset, `6 scopes`. */
export function sayScopes(scopes: readonly string[]): string {
  if (scopes.includes('*')) return 'All scopes'
  const preset = presets.find(([, of]) => isSame(of, scopes))
  if (preset !== undefined) return preset[0]
  return scopes.length <= 2 ? scopes.join(', ') : `${scopes.length} scopes`
}
