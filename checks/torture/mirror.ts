/**
 * `npm run check -- mirror-torture [--seconds N] [--only STORE] [--seed N]`: mirrors of a desk that is written to at full
 * speed, while its services, its database, the mirror and the mirror's store are killed at random. In the end the tables are held
 * against the service's exports, byte for byte, by a comparer that knows nothing of the mirror. Exits with 1 when they differ.
 */
import { parseArgs } from 'node:util'
import { type MirrorTortureReport, runMirrorTorture, stores } from './run-mirror-torture.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
  },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
const chosen = stores.filter((store) => store.includes(values.only))
if (!(seconds >= 1) || !Number.isSafeInteger(seed) || chosen.length === 0) {
  process.stderr.write(
    `mirror-torture: --seconds and --seed are whole numbers from 1; stores are ${stores.join(', ')}\n`,
  )
  process.exit(2)
}
for (const store of chosen) {
  const report = await runMirrorTorture({ store, seconds, seed })
  process.stdout.write(`${lineOf(report)}\n`)
  for (const difference of report.differences.slice(0, 20)) process.stdout.write(`  ${difference}\n`)
  if (!isClean(report)) process.exitCode = 1
}

function isClean({ differences, repaired, isExact }: MirrorTortureReport): boolean {
  return differences.length === 0 && repaired === 0 && isExact
}

function lineOf(report: MirrorTortureReport): string {
  const { store, changes, rows, kills, repaired, differences, isExact } = report
  const number = (value: number) => value.toLocaleString('en')
  const verdict = isExact ? 'exact' : 'not exact'
  return `${store}: ${number(changes)} changes acknowledged, ${number(rows)} rows in the end; kill -9 of the mirror ${kills.mirror} times, of a service ${kills.service}, of the service's database ${kills.database}, of the store's server ${kills.store}; by hand ${differences.length} differences, by verify ${verdict}, ${repaired} repairs on the way`
}
