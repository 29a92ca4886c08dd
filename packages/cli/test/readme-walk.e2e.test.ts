/** The README's walk, pasted line by line into one shell, prints what the README says. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, npmStart, root, temporaryDataDir, until } from './harness.ts'

interface Step {
  readonly commands: string
  /** What it prints, `…` standing for anything; null where the README does not say. */
  readonly prints: readonly string[] | null
}

const readme = readFileSync(join(root, 'README.md'), 'utf8')

function steps(): Step[] {
  const [, section = ''] = /\n## A five-minute walk\n([\s\S]*?)\n## /.exec(readme) ?? []
  const blocks = [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
    kind,
    text,
  }))
  expect(blocks.map(({ kind }) => kind)).toEqual(blocks.map(({ kind }) => (kind === 'text' ? 'text' : 'sh')))
  return blocks.flatMap(({ kind, text }, n) => {
    if (kind !== 'sh') return []
    const next = blocks[n + 1]
    const prints = next?.kind === 'text' ? (next.text as string).trimEnd().split('\n') : null
    return [{ commands: text as string, prints }]
  })
}

/** One shell for the whole walk, as a person has one. */
function shell(dataDir: string) {
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    cwd: root,
    env: environment({ DESKWIRE_DATA_DIR: dataDir }),
    stdio: 'pipe',
  })
  let stdout = ''
  let stderr = ''
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  bash.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise((resolve) => bash.once('close', resolve))
  return {
    errors: () => stderr,
    /** What the commands print, blank lines apart. */
    async run(commands: string): Promise<string[]> {
      const before = stdout.length
      const mark = `done-${crypto.randomUUID()}`
      bash.stdin.write(`${commands}\necho ${mark}\n`)
      await until(`the end of ${commands}`, () => stdout.includes(mark) || bash.exitCode !== null)
      const printed = stdout.slice(before, stdout.indexOf(mark))
      return printed.split('\n').filter((line) => line !== '')
    },
    async [Symbol.asyncDispose]() {
      bash.stdin.end()
      await ended
    },
  }
}

function expected(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

test('the README says how to start and to test', () => {
  expect(readme).toContain('\n```\nnpm ci && npm start\n```\n')
  expect(readme).toContain('\n```\nnpm ci && npm test\n```\n')
})

test('the walk works as it is written', { timeout: 240_000 }, async () => {
  await using dataDir = await temporaryDataDir()
  await using service = await npmStart({ DESKWIRE_DATA_DIR: dataDir.path })
  const [key = ''] = /dwk_[0-9A-Za-z]{36}/.exec(service.output.stdout) ?? []
  const walk = steps()
  expect(walk.length).toBeGreaterThan(7)
  expect(walk[0]?.commands).toContain('export KEY=dwk_…\nexport URL=http://127.0.0.1:8080/v1\n')
  {
    await using bash = shell(dataDir.path)
    for (const { commands, prints } of walk) {
      const own = commands.replace('dwk_…', key).replace('http://127.0.0.1:8080', service.url)
      const printed = await bash.run(own)
      if (prints === null) continue
      prints.forEach((line, n) => {
        expect(printed[n], `${commands}\n${bash.errors()}`).toMatch(expected(line))
      })
      expect(printed.length, printed.join('\n')).toBe(prints.length)
    }
    expect(bash.errors()).toBe('')
  }
  expect((await service.stop('SIGINT', 'all')).code).toBe(0)
})
