/** A database with a hook before certain statements, for what another process does in that gap. */
import type { Pool } from 'pg'
import type { TestDatabase } from './database.ts'

/** `before` gets the text and values of every statement of the pool. */
export function interposed(
  database: TestDatabase,
  before: (text: string, values: readonly unknown[]) => Promise<void>,
): TestDatabase {
  const pool = new Proxy(database.pool, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (property !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return async (config: string | { text: string; values?: unknown[] }, values?: unknown[]) => {
        if (typeof config === 'string') await before(config, values ?? [])
        else await before(config.text, config.values ?? [])
        return typeof config === 'string' ? target.query(config, values) : target.query(config)
      }
    },
  }) as Pool
  return { ...database, pool, [Symbol.asyncDispose]: async () => {} }
}
