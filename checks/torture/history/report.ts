import { faultSorts, type Verdict } from './verdict.ts'

/** Faults that are shown one by one. */
const shown = 20

/** What was checked, the faults by sort, and the first ones with their lines. */
export function describeVerdict({ faults, counts, seen }: Verdict): string {
  const number = (value: number) => value.toLocaleString('en')
  const lines = [
    `${number(seen.lines)} lines: ${number(seen.asks)} asks, ${number(seen.acknowledged)} acknowledged, ` +
      `${number(seen.unanswered)} unanswered; ${number(seen.marks)} marks`,
    `${number(seen.versions)} versions of ${number(seen.rows)} objects`,
    `${number(seen.followers)} followers: ${number(seen.pages)} pages with ${number(seen.read)} records, ` +
      `${number(seen.again)} of them asked for again, ${number(seen.checkpoints)} with a checkpoint`,
    faultSorts.map((sort) => `${sort} ${number(counts[sort])}`).join(', '),
    ...faults.slice(0, shown).map(({ sort, line, detail }) => `line ${line}: ${sort}: ${detail}`),
  ]
  return `${lines.join('\n')}\n`
}
