/**
 * `npm run record`: runs `deskwire demo` as it is, and writes docs/demo.svg, a terminal in which its lines appear when they did. To be
 * run when the demo prints something else.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

interface Line {
  readonly text: string
  /** Seconds since the start. */
  readonly at: number
}

/** Pixels. */
const character = 7.8
const lineHeight = 19
const margin = 16

const root = fileURLToPath(new URL('..', import.meta.url))
const began = performance.now()
const lines: Line[] = [{ text: '$ npx deskwire demo', at: 0 }]
const demo = spawn(process.execPath, ['packages/cli/deskwire.js', 'demo'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
createInterface({ input: demo.stdout }).on('line', (text) => {
  lines.push({ text, at: (performance.now() - began) / 1_000 })
})
const [code] = await once(demo, 'close')
if (code !== 0) throw new Error(`the demo ended with ${code}`)
writeFileSync(new URL('../docs/demo.svg', import.meta.url), picture(lines))

function picture(shown: readonly Line[]): string {
  const width = Math.ceil(Math.max(...shown.map(({ text }) => text.length)) * character) + 2 * margin
  const height = shown.length * lineHeight + 2 * margin
  const texts = shown.map(
    ({ text, at }, n) =>
      `<text class="${classOf(text)}" x="${margin}" y="${margin + (n + 0.75) * lineHeight}" style="animation-delay:${at.toFixed(2)}s" xml:space="preserve">${escaped(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>deskwire demo, as it ran: each change arrives as a verified delivery and in the sync, also when the worker is killed</title>
<style>
text { font: 13px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d0d7de; animation: appear 0.1s both }
.typed { fill: #ffffff }
.good { fill: #7ee787 }
.killed { fill: #ffa198 }
@keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
${texts.join('\n')}
</svg>
`
}

function classOf(text: string): string {
  if (text.startsWith('$')) return 'typed'
  if (text.startsWith('kill')) return 'killed'
  return /verified|exact|nothing was lost/.test(text) ? 'good' : 'said'
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
