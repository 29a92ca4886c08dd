/** Filters in the address: `?status=failed&endpoint=…`. */

/** Ignores empty values. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** For `validateSearch`: the named parameters, and how a table is sorted. */
export function textsNamed<const Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): { [N in Name | 'sort']?: string } =>
    Object.fromEntries(
      [...names, 'sort' as const].flatMap((name) =>
        typeof search[name] === 'string' ? [[name, search[name]]] : [],
      ),
    ) as { [N in Name | 'sort']?: string }
}
