/** What a key may do (specification 3.2). `write` does not imply `read`; `*` is everything. */

/** Making, changing and revoking keys, and changing the organization. */
export const managingScope = 'api_keys:manage'

/** Every scope there is, for kinds with these plurals. */
export function scopeNames(plurals: readonly string[]): string[] {
  const names = [...plurals, 'webhooks']
  return [...names.flatMap((name) => [`${name}:read`, `${name}:write`]), managingScope, '*']
}

/** Whether a key with these scopes may do what `scope` names. */
export function grants(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope)
}

/** Of the scopes wanted, those that a key with `held` cannot grant, as it lacks them; each once. */
export function lacking(held: readonly string[], wanted: readonly string[]): string[] {
  return [...new Set(wanted)].filter((scope) => !grants(held, scope))
}
