/** A store that calls back before each of its statements, and before and after each commit: to fail there, or to look. */
import type { Store, StoreReader, StoreWriter } from '../src/index.ts'

/** `step` names the next step: `put`, `setNote`, `commit`, `committed`; `first` is its first argument. */
type Hook = (step: string, first?: unknown) => void | Promise<void>

export function hooked(store: Store, hook: Hook): Store {
  const { shown } = store
  return {
    open: (options) => store.open(options),
    close: () => store.close(),
    read: (work) => store.read((at) => work(withHook(at, hook))),
    async write(work) {
      await hook('begin')
      const result = await store.write(async (tx) => {
        const done = await work(withHook(tx, hook))
        await hook('commit')
        return done
      })
      await hook('committed')
      return result
    },
    ...(shown && { shown: (column, cell) => shown.call(store, column, cell) }),
  }
}

function withHook<T extends StoreReader | StoreWriter>(at: T, hook: Hook): T {
  return new Proxy(at, {
    get(_, name) {
      const member = Reflect.get(at, name)
      if (typeof member !== 'function') return member
      if (name === 'rows' || name === 'removed') return member.bind(at)
      return async (...values: unknown[]) => {
        await hook(String(name), values[0])
        return Reflect.apply(member, at, values)
      }
    },
  })
}

/** What a test fails with. */
export class Fault extends Error {}
