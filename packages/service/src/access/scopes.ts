/** What a key may do. `write` does not imply `read`; `*` is everything. */
export function scopeNames(plurals: readonly string[]): string[] {
  return [...plurals.flatMap((plural) => [`${plural}:read`, `${plural}:write`]), '*']
}

/** Whether a key with these scopes may do what `scope` names. */
export function grants(scopes: readonly string[], scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope)
}
