/**
 * `npm run bench -- [GROUP …] [--full] [--runs N] [--only TEXT] [--deliveries N] [--seconds N] [--write-results]`: measures the real service, one JSON
 * line a case. All it uses is on this machine, and removed when it is done. README.md lists the groups.
 */
import { parseArgs } from 'node:util'
import { agents } from './cases/agents.ts'
import { cascade } from './cases/cascade.ts'
import { compressed } from './cases/compressed.ts'
import { consoleScreens } from './cases/console.ts'
import { databases } from './cases/databases.ts'
import { deliver, latency } from './cases/deliver.ts'
import { drift } from './cases/drift.ts'
import { grown } from './cases/grown.ts'
import { imports } from './cases/import.ts'
import { isolate, newcoming } from './cases/isolate.ts'
import { list } from './cases/list.ts'
import { log } from './cases/log.ts'
import { memory } from './cases/memory.ts'
import { mirror } from './cases/mirror.ts'
import { move } from './cases/move.ts'
import { neighbours } from './cases/neighbours.ts'
import { pages } from './cases/pages.ts'
import { peers } from './cases/peers.ts'
import { recover } from './cases/recover.ts'
import { search } from './cases/search.ts'
import { snapshot } from './cases/snapshot.ts'
import { stall } from './cases/stall.ts'
import { start } from './cases/start.ts'
import { sync } from './cases/sync.ts'
import { upgrade } from './cases/upgrade.ts'
import { waiters } from './cases/waiters.ts'
import { write } from './cases/write.ts'
import { removeAll } from './harness/installation.ts'
import { describeMachine } from './harness/machine.ts'
import { reachOf } from './harness/reaches.ts'
import type { Result, Skipped } from './harness/report.ts'
import { mergeRun, readResults, writeResults } from './harness/results.ts'
import { resultsPage } from './harness/results-page.ts'
import { createShelf } from './harness/seeds.ts'

const groups = {
  write,
  sync,
  pages,
  compressed,
  list,
  search,
  log,
  start,
  deliver,
  peers,
  latency,
  isolate,
  newcomers: newcoming,
  memory,
  mirror,
  drift,
  neighbours,
  recover,
  cascade,
  waiters,
  agents,
  stall,
  upgrade,
  import: imports,
  grown,
  snapshot,
  console: consoleScreens,
  move,
  databases,
}
type Group = keyof typeof groups

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    deliveries: { type: 'string' },
    seconds: { type: 'string', default: '600' },
    only: { type: 'string', default: '' },
    'write-results': { type: 'boolean', default: false },
  },
})
const unknown = positionals.filter((name) => !(name in groups))
const runs = Number(values.runs)
const seconds = Number(values.seconds)
const deliveries = Number(values.deliveries ?? (values.full ? 1_000_000 : 100_000))
if (
  unknown.length > 0 ||
  !(runs >= 1) ||
  !(seconds >= 12) ||
  !(deliveries >= 100 && deliveries % 100 === 0)
) {
  process.stderr.write(
    `bench: groups are ${Object.keys(groups).join(', ')}; --runs takes a number from 1, --deliveries hundreds, --seconds one from 12\n`,
  )
  process.exit(2)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // The current case fails when its service is stopped.
    process.on('uncaughtException', () => {})
    removeAll().finally(() => process.exit(1))
  })
}
await using shelf = createShelf()
// Peers are only installed on request, and a snapshot takes its time.
const usual = (Object.keys(groups) as Group[]).filter((name) => name !== 'peers' && name !== 'snapshot')
const chosen = positionals.length === 0 ? usual : (positionals as Group[])
const machine = values['write-results'] ? await describeMachine() : []
for (const group of chosen) {
  const results: (Result | Skipped)[] = []
  for await (const result of groups[group]({
    runs,
    full: values.full,
    deliveries,
    seconds,
    only: values.only,
    shelf,
  })) {
    process.stdout.write(`${JSON.stringify(withTarget(result))}\n`)
    results.push(result)
  }
  if (!values['write-results']) continue
  // After each group, so that a failing one only loses its own results.
  const measured = new Date().toISOString().slice(0, 10)
  const partial = values.only !== ''
  const run = { group, measured, full: values.full, partial, machine, results }
  await writeResults(mergeRun(await readResults(), run, Object.keys(groups)), resultsPage)
}

/** With its target, where there is one. */
function withTarget(result: Result | Skipped) {
  const reach = 'skipped' in result ? undefined : reachOf(result)
  return reach === undefined || 'skipped' in result
    ? result
    : { ...result, target: reach.text, met: reach.met(result) }
}
