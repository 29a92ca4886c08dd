import { lazyRouteComponent } from '@tanstack/react-router'
import { sayLost } from '../api/connection.ts'
import { Unreachable } from '../api/problem.ts'

/**
 * A screen in a file of its own. The router alone would reload the page without the file, which a browser answers
 * with an error of its own.
 */
export function lazyScreen<T extends Record<string, unknown>, Name extends keyof T & string>(
  load: () => Promise<T>,
  name: Name,
) {
  const loadOrSay = () =>
    load().catch((error: unknown) => {
      sayLost()
      throw new Unreachable(error)
    })
  return lazyRouteComponent(loadOrSay, name)
}
