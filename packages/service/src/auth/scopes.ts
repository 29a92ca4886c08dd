/** What a key may do (specification 3.2). `write` does not imply `read`; `*` is everything. */

/** Allows creating, changing and revoking keys, and changing the organization. */
export const managingScope = 'api_keys:manage'

export function scopeNames(plurals: readonly string[]): string[] {
  const names = [...plurals, 'webhooks']
  return [...names.flatMap((name) => [`${name}:read`, `${name}:write`]), managingScope, '*']
}

export function grants(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope)
}

/** The scopes in `wanted` that a key with `held` cannot grant, without repeats. */
export function lacking(held: readonly string[], wanted: readonly string[]): string[] {
  return [...new Set(wanted)].filter((scope) => !grants(held, scope))
}
