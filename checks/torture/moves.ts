/**
 * `npm run check -- move-torture [--changes N] [--moves N] [--writers N] [--seed N]`: moves an organization between two
 * databases under load, while all processes are killed. Exits with 1 for a fault in the recorded history.
 */
import { parseArgs } from 'node:util'
import { isClean } from './history/check.ts'
import { describeVerdict } from './history/report.ts'
import { type MoveTortureReport, runMoveTorture } from './run-move-torture.ts'

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '20000' },
    moves: { type: 'string', default: '20' },
    writers: { type: 'string', default: '16' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
  },
})
const [changes = 0, moves = 0, writers = 0, seed = 0] = [
  values.changes,
  values.moves,
  values.writers,
  values.seed,
].map(Number)
if (![changes, moves, writers, seed].every((one) => Number.isSafeInteger(one) && one >= 1)) {
  process.stderr.write('move-torture: --changes, --moves, --writers and --seed are whole numbers from 1\n')
  process.exit(2)
}
const limits = [1, 8, 34, 100, 100, 55]
process.stdout.write(`seed ${seed}\n`)
const report = await runMoveTorture({
  changes,
  moves,
  writers,
  limits,
  seed,
  say: (line) => process.stdout.write(`${line}\n`),
})
const said = `${conditions(report).join('\n')}\n\n${describeVerdict(report.verdict)}`
process.stdout.write(said)
for (const failure of new Set(report.failures)) process.stdout.write(`a mover ended with: ${failure}\n`)
process.exitCode = isClean(report.verdict) && report.deliveries.lost === 0 ? 0 : 1

function conditions({
  seconds,
  kills,
  pauses,
  deliveries,
  tally,
  verdict,
  ...report
}: MoveTortureReport): string[] {
  const number = (value: number) => Math.ceil(value).toLocaleString('en')
  const sorted = pauses.toSorted((a, b) => a - b)
  const answers = Object.entries(tally).map(([answer, count]) => `${answer} ${number(count)}`)
  return [
    `- ${number(report.moves)} moves in ${Math.round(seconds)} s; ${number(verdict.seen.acknowledged)} changes acknowledged, ${writers} writers, ${limits.length} followers`,
    `- kill -9 of a mover ${kills.mover} times, of a service ${kills.service}, of the first database ${kills['first database']}, of the second ${kills['second database']}`,
    `- writes waited ${number(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms at a turn, ${number(sorted.at(-1) ?? 0)} at the longest of the ${sorted.length} whose mover lived to tell`,
    `- of ${number(deliveries.events)} events the endpoint was to be told; of ${number(deliveries.lost)} it was not, beside ${number(deliveries.withoutSubject)} whose subject was removed by then; ${number(deliveries.again)} deliveries came again`,
    `- answers: ${answers.join(', ')}; seed ${seed}`,
  ]
}
