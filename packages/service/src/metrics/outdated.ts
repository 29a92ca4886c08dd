/** How many rows show an earlier version of their kind: none, when an upgrade is through. */
import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../kernel/clock.ts'
import { remembered } from '../kernel/remembered.ts'

/** Milliseconds for which an answer is good. */
const goodFor = 15_000
/** And for which nothing more is asked of a database that does not answer. */
const failureGoodFor = 1_000

/** A gauge of the rows of each kind that are left to be upgraded, counted up to `most`. While `read` fails there is none. */
export function createOutdatedMetrics(
  register: Registry,
  clock: Clock,
  options: {
    readonly most: number
    readonly read: () => Promise<readonly { readonly kind: string; readonly rows: number }[]>
  },
): void {
  const known = remembered(options.read, { clock, goodFor, failureGoodFor })
  new Gauge({
    name: 'deskwire_rows_outdated',
    help: `Rows that show an earlier version of their kind and are still to be upgraded, counted up to ${options.most}`,
    labelNames: ['kind'],
    registers: [register],
    async collect() {
      const found = await known().catch(() => [])
      this.reset()
      for (const { kind, rows } of found) this.set({ kind }, rows)
    },
  })
}
