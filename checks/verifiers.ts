/**
 * `npm run check -- verifiers`: Standard Webhooks verifiers in Python and Go check Deskwire's signatures, and so do the
 * guide's receivers. Both are installed from their registries; npm's verifier is part of `npm test`.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { receiverSecrets, wrongAnswers } from '../packages/sdk/test/standard-receiver.ts'
import { makeStandardVectors, publishedAt } from '../packages/sdk/test/standard-vectors.ts'
import { startProgram } from '../packages/testbed/program.ts'
import { installPython } from '../tools/python.ts'
import { report } from './report.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const receivers = here('../docs/guides/receivers/')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-verifiers-'))
const python = join(installPython('deskwire-verifiers', ['standardwebhooks==1.1.0']), 'python')
const goModule = 'github.com/standard-webhooks/standard-webhooks/libraries'

interface Verifier {
  readonly title: string
  /** Compiles the programs, where necessary. */
  readonly install?: () => void
  readonly judge: readonly [string, ...string[]]
  readonly receiver: readonly [string, ...string[]]
  /** Vectors that it judges differently, and why. */
  readonly differences: Readonly<Record<string, string>>
}

const fixed = 'its tolerance is fixed'
const number = 'it signs over the number, not over the text'

const verifiers: readonly Verifier[] = [
  {
    title: 'standardwebhooks 1.1.0 of PyPI',
    judge: [python, here('verifiers/judge.py')],
    receiver: [python, join(receivers, 'standard.py')],
    differences: {
      'valid, binary body': 'it reads the body as UTF-8',
      'a wider tolerance': fixed,
      'tolerance 0 is no switch': fixed,
      'a leading zero that was not signed': number,
    },
  },
  {
    title: `${goModule} v0.0.1 of Go`,
    install() {
      run('go', ['mod', 'init', 'verifiers'])
      run('go', ['get', `${goModule}@v0.0.1`])
      const sources = { judge: here('verifiers/judge.go'), standard: join(receivers, 'standard.go') }
      for (const [name, source] of Object.entries(sources)) {
        copyFileSync(source, join(scratch, `${name}.go`))
        run('go', ['build', '-p=1', '-o', join(scratch, name), `${name}.go`])
      }
    },
    judge: [join(scratch, 'judge')],
    receiver: [join(scratch, 'standard')],
    differences: {
      'a wider tolerance': fixed,
      'tolerance 0 is no switch': fixed,
      'a leading zero that was not signed': number,
    },
  },
]

try {
  for (const verifier of verifiers) {
    verifier.install?.()
    judge(verifier)
    await receive(verifier)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Reports its verdicts on the vectors, signed as long before now as published. */
function judge({ title, judge: [command, ...args], differences }: Verifier): void {
  const now = Math.floor(Date.now() / 1000)
  const given = makeStandardVectors().flatMap(({ name, now: at }) => {
    const ago = at - publishedAt
    // It has its own clock: vectors at the limit of a second, or before the Unix epoch, are left out.
    if (Math.abs(Math.abs(ago) - 300) < 10 || ago > now) return []
    return makeStandardVectors(now - ago).filter((vector) => vector.name === name)
  })
  const said = execFileSync(command, args, { input: JSON.stringify(given), encoding: 'utf8' })
    .trim()
    .split('\n')
  const wrong = given.flatMap(({ name, expected }, n) => {
    const other = expected === 'accept' ? 'reject' : 'accept'
    return said[n] === (name in differences ? other : expected) ? [] : [`${name}: ${said[n]}`]
  })
  report(
    `${title}: ${given.length} of ${makeStandardVectors().length} vectors judged, ${given.length - Object.keys(differences).length} of them as by the SDK${wrong.map((one) => `; ${one}`).join('')}`,
    wrong.length === 0,
  )
  for (const [name, why] of Object.entries(differences)) report(`otherwise: ${name}, as ${why}`, true)
}

/** Reports the responses of the guide's receiver. */
async function receive({ title, receiver: [command, ...args] }: Verifier): Promise<void> {
  const env = { ...process.env, PORT: '0', DESKWIRE_WEBHOOK_SECRET: receiverSecrets }
  await using receiver = startProgram(command, args, { env, shown: true })
  const [, url] = await receiver.prints(/^listening on (http:\/\/\S+)$/m)
  const wrong = await wrongAnswers(`${url}/hook`)
  report(
    `${title}: the guide's receiver accepts what is signed and refuses the rest${wrong.map((one) => `; ${one}`).join('')}`,
    wrong.length === 0,
  )
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: scratch, stdio: 'inherit' })
}
