/**
 * `npm run check -- upgrade [--from REVISION] [--changes N] [--writers N] [--seed N]`: an earlier release and this one share a
 * database while a rollout goes on under load: writers, followers and receivers notice nothing. What they were told and what they
 * read is recorded and checked as the torture's is. The earlier release is built from the history, with its own `npm ci`.
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { isClean } from './torture/history/check.ts'
import { describeVerdict } from './torture/history/report.ts'
import { firstRelease } from './upgrade/release.ts'
import { rollOut } from './upgrade/roll-out.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: firstRelease() },
    changes: { type: 'string', default: '40000' },
    writers: { type: 'string', default: '16' },
    seed: { type: 'string', default: '1' },
  },
})

const [changes, writers, seed] = [values.changes, values.writers, values.seed].map(Number) as [
  number,
  number,
  number,
]
const revision = git('rev-parse', '--short=10', values.from)
const report = await rollOut({ revision, changes, writers, seed, say: (line) => console.log(line) })

const number = (value: number) => value.toLocaleString('en')
const lines = [
  `- from ${revision} (${git('show', '-s', '--format=%cs', revision)}) to this release; ${report.migrations} migrations`,
  `- ${number(report.changes)} changes acknowledged in ${Math.round(report.seconds)} s, ${writers} writers and ${report.followers} followers through a balancer that asks /readyz and takes a process out before it is told to stop`,
  ...report.phases.map(
    ({ name, answers, slowest, slowestCall, failed }) =>
      `- ${name}: ${number(answers)} answers, the slowest after ${Math.round(slowest)} ms (${slowestCall}); ${failed.length === 0 ? 'no 5xx, none without an answer' : failed.join(', ')}`,
  ),
  `- ${number(report.events)} events of the types that endpoints are subscribed to; ${number(report.arrivals)} requests at receivers; ${report.withoutSubject} deliveries not sent, as their subject was removed by then; ${report.undelivered.length} that did not arrive, ${report.forged.length} with a wrong signature`,
]
const failed =
  !isClean(report.verdict) ||
  report.undelivered.length + report.forged.length > 0 ||
  report.phases.some((phase) => phase.failed.length > 0)
for (const fault of [...report.undelivered, ...report.forged]) console.log(fault)
console.log(`${lines.join('\n')}\n\n${describeVerdict(report.verdict)}`)
process.exitCode = failed ? 1 : 0

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}
