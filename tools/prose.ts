/** `npm run prose`: checks the texts that people read, and the subjects of new commits, against docs/style.md. */
import { resolve } from 'node:path'
import { exceptions } from './prose/exceptions.ts'
import { lint } from './prose/lint.ts'
import { faultOf, newCommits } from './prose/subjects.ts'
import { allTexts } from './prose/texts.ts'

const commits = newCommits(resolve(import.meta.dirname, '..'))
const subjects = commits.flatMap(({ id, subject }) => {
  const fault = faultOf(subject)
  return fault === null ? [] : [`commit ${id}: ${subject}: ${fault}`]
})

const texts = await allTexts()
const findings = (await Promise.all(texts.map(lint))).flat()
const excepts = (finding: (typeof findings)[number]) =>
  exceptions.filter(({ where, found }) => finding.where.startsWith(where) && finding.found.includes(found))
const unexcused = findings.filter((finding) => excepts(finding).length === 0)
const used = new Set(findings.flatMap(excepts))
const faults = [
  ...unexcused.map(
    ({ where, line, rule, found, instead }) =>
      `${where.includes(':') || where.includes(' ') ? where : `${where}:${line}`}: ${rule}: ${found}\n  ${instead}`,
  ),
  ...subjects,
  ...exceptions
    .filter((exception) => !used.has(exception))
    .map(({ where, found }) => `no longer needed: ${where}: ${found}`),
]
for (const fault of faults) console.error(fault)
console.log(`${texts.length} texts, ${commits.length} new commits: ${faults.length} faults (docs/style.md)`)
if (faults.length > 0) process.exitCode = 1
