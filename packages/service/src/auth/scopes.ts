/** What a key may do (specification 3.2). `write` does not imply `read`; `*` is everything. */

/** Allows creating, changing and revoking keys, and changing the organization. */
export const managingScope = 'api_keys:manage'

/** Allows importing objects with their past, of the kinds that the key may write. */
export const importingScope = 'import'

/** Allows erasing objects of a kind with everything that refers to them. */
export function erasingScope(plural: string): `${string}:erase` {
  return `${plural}:erase`
}

/** `isPerson`: objects of the kind can be erased. */
export function scopeNames(
  kinds: readonly { readonly plural: string; readonly isPerson: boolean }[],
): string[] {
  const names = [...kinds, { plural: 'webhooks', isPerson: false }].flatMap(({ plural, isPerson }) => [
    `${plural}:read`,
    `${plural}:write`,
    ...(isPerson ? [erasingScope(plural)] : []),
  ])
  return [...names, importingScope, managingScope, '*']
}

export function grants(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope)
}

/** The scopes in `wanted` that a key with `held` cannot grant, without repeats. */
export function lacking(held: readonly string[], wanted: readonly string[]): string[] {
  return [...new Set(wanted)].filter((scope) => !grants(held, scope))
}
