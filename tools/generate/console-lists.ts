/** The lists of kinds, scopes and events that the console shows, generated from the kinds. */
import { scopeNames } from '../../packages/service/src/auth/scopes.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'

export function consoleLists(kinds: readonly Kind[]): string {
  const lists = {
    kinds: kinds.map(({ name, plural }) => ({ name, plural })),
    scopes: scopeNames(kinds),
    eventTypes: kinds.flatMap(({ events }) => Object.keys(events)),
  }
  const exported = Object.entries(lists).map(
    ([name, list]) => `export const ${name} = ${JSON.stringify(list)} as const\n`,
  )
  return `/** Generated from the kinds by \`npm run generate\`. */\n${exported.join('\n')}`
}
