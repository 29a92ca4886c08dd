/**
 * `npm run check -- torture [--changes N] [--writers N] [--seed N] [--keep FILE] [--unlocked]`: the stream under
 * expected failures and worse. Exits with 1 for a fault in the recorded history.
 */
import { parseArgs } from 'node:util'
import { isClean } from './history/check.ts'
import { describeVerdict } from './history/report.ts'
import { runTorture, type TortureOptions, type TortureReport } from './run-torture.ts'

const usage =
  'torture [--changes N] [--writers N] [--seed N] [--keep FILE] [--unlocked]: N is a whole number from 1'

const options = readOptions()
if (options === null) {
  process.stderr.write(`torture: ${usage}\n`)
  process.exitCode = 2
} else {
  process.stdout.write(`seed ${options.seed}\n`)
  const report = await runTorture(options)
  process.stdout.write(`${conditions(options, report).join('\n')}\n\n${describeVerdict(report.verdict)}`)
  process.exitCode = isClean(report.verdict) ? 0 : 1
}

function readOptions(): TortureOptions | null {
  try {
    const { values } = parseArgs({
      options: {
        changes: { type: 'string', default: '1000000' },
        writers: { type: 'string', default: '64' },
        seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
        keep: { type: 'string' },
        unlocked: { type: 'boolean', default: false },
      },
    })
    const [changes, writers, seed] = [values.changes, values.writers, values.seed].map(Number)
    const whole = [changes, writers, seed].every((one) => Number.isSafeInteger(one) && Number(one) >= 1)
    if (!whole || changes === undefined || writers === undefined || seed === undefined) return null
    return {
      changes,
      writers,
      seed,
      unlocked: values.unlocked,
      keep: values.keep ?? null,
      installed: null,
      // Every source with a page of one, of a hundred, and of other sizes.
      limits: [1, 2, 3, 5, 8, 13, 20, 34, 55, 89, 100, 100, 100, 7, 60, 1, 41, 27],
      stallOneIn: 200,
      stallFor: 2_000,
      serviceKills: Math.max(3, Math.min(40, Math.round(changes / 25_000))),
      databaseKills: Math.max(1, Math.min(8, Math.round(changes / 125_000))),
      say: (line) => process.stdout.write(`${line}\n`),
    }
  } catch {
    return null
  }
}

function conditions(options: TortureOptions, report: TortureReport): string[] {
  const number = (value: number) => value.toLocaleString('en')
  const answers = Object.entries(report.tally).map(([answer, count]) => `${answer} ${number(count)}`)
  return [
    `- ${number(report.verdict.seen.acknowledged)} changes acknowledged, ${options.writers} writers, ${options.limits.length} followers with pages of ${Math.min(...options.limits)} to ${Math.max(...options.limits)}`,
    `- ${number(report.commits)} commits acknowledged in ${Math.round(report.seconds)} s; ${number(report.stalls)} of them held up for up to ${options.stallFor / 1_000} s, one in ${options.stallOneIn}`,
    `- kill -9 of a service ${report.serviceKills} times, of the database with all three services ${report.databaseKills} times`,
    `- clocks of the services step at random between 3 hours behind and 2 minutes ahead, of which one is believed; seed ${options.seed}`,
    `- answers: ${answers.join(', ')}`,
  ]
}
