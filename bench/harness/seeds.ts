/** One installation for the cases that only read. Its organizations are created when first needed. */
import { type Installation, install } from './installation.ts'
import { type Seeded, seed } from './seed.ts'

export interface Shelf extends AsyncDisposable {
  installation(): Promise<Installation>
  /** With so many rows and old removals. */
  organization(live: number, removed?: number): Promise<Seeded>
}

export function createShelf(): Shelf {
  let installed: Promise<Installation> | undefined
  const seeds = new Map<string, Promise<Seeded>>()
  const installation = () => {
    installed ??= install()
    return installed
  }
  return {
    installation,
    organization(live, removed = 0) {
      const key = `${live} ${removed}`
      const seeded = seeds.get(key) ?? installation().then((on) => seed(on, { live, removed }))
      seeds.set(key, seeded)
      return seeded
    },
    async [Symbol.asyncDispose]() {
      await (await installed)?.[Symbol.asyncDispose]()
    },
  }
}
