/**
 * `npm run test:deploy [-- image proxies unit chart standby behind]`: what is in `deploy/`, and what the guide on deploying says, tried
 * with the programs that operators have. What each part needs stands at its head. With --write-results the sections of
 * those that were run are written into `checks/deploy/RESULTS.md`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tryChart } from './deploy/chart.ts'
import { tryImage } from './deploy/image.ts'
import { tryProxies } from './deploy/proxies.ts'
import { tryStandby, tryStandbyBehind } from './deploy/standby.ts'
import { tryUnit } from './deploy/unit.ts'

/** Takes a line of what was seen, and whether it is as it has to be. */
export type Report = (line: string, good: boolean) => void

/** Answers the programs that it was tried with, and their releases. */
type Part = (report: Report) => Promise<string>

const parts: Readonly<Record<string, Part>> = {
  image: tryImage,
  proxies: tryProxies,
  unit: tryUnit,
  chart: tryChart,
  standby: tryStandby,
  behind: tryStandbyBehind,
}

const results = new URL('deploy/RESULTS.md', import.meta.url)
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const unknown = asked.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`)

for (const name of asked.length > 0 ? asked : Object.keys(parts)) {
  const lines: string[] = []
  console.log(`## ${name}`)
  const programs = await parts[name]?.((line, good) => {
    if (!good) process.exitCode = 1
    lines.push(`- ${good ? '' : '**wrong** '}${line}`)
    console.log(lines.at(-1))
  })
  if (process.argv.includes('--write-results')) write(name, `${programs}\n\n${lines.join('\n')}\n`)
}

/** Puts the section in the place of the one of that name. */
function write(name: string, section: string): void {
  const written = existsSync(results) ? readFileSync(results, 'utf8') : ''
  const sections = new Map(
    [...written.matchAll(/^## (\w+)\n\n(.*?)(?=^## |$(?![\s\S]))/gms)].map(([, of = '', text = '']) => [
      of,
      text.trimEnd(),
    ]),
  )
  sections.set(name, section.trimEnd())
  const texts = Object.keys(parts).flatMap((of) =>
    sections.has(of) ? [`## ${of}\n\n${sections.get(of)}\n`] : [],
  )
  const head = `# What is in deploy, tried\n\nWritten by \`npm run test:deploy -- --write-results\` with Node ${process.versions.node}.\n`
  writeFileSync(results, [head, ...texts].join('\n'))
}
