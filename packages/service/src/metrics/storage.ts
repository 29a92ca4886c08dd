/** How much the largest organizations store, by rank: which they are is for the log to say, so that no series is theirs. */
import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../kernel/clock.ts'
import { remembered } from '../kernel/remembered.ts'

/** Milliseconds for which an answer is good. */
const goodFor = 60_000
/** And for which nothing more is asked of a database that does not answer. */
const failureGoodFor = 1_000

const measures = {
  rows: 'Existing rows of the organizations that have most, by rank',
  bytes: 'Bytes of representations of the organizations that have most, by rank',
  removed: 'Removal records of the organizations that have most, by rank',
  log: "Events, deliveries and attempts of the organizations that have most, by rank: estimated from the planner's statistics",
} as const

/** The largest by each measure, most first. */
export type Largest = { readonly [Measure in keyof typeof measures]: readonly number[] }

/** Gauges of as many ranks as there are to be; 0 where there is no such organization, none while `read` fails. */
export function createStorageMetrics(
  register: Registry,
  clock: Clock,
  { ranks, read }: { readonly ranks: number; readonly read: () => Promise<Largest> },
): void {
  const known = remembered(read, { clock, goodFor, failureGoodFor })
  for (const [measure, help] of Object.entries(measures) as [keyof Largest, string][]) {
    new Gauge({
      name: `deskwire_organization_${measure}_largest`,
      help,
      labelNames: ['rank'],
      registers: [register],
      async collect() {
        const found = await known().catch(() => null)
        this.reset()
        if (found === null) return
        for (let rank = 1; rank <= ranks; rank++) this.set({ rank }, found[measure][rank - 1] ?? 0)
      },
    })
  }
}
