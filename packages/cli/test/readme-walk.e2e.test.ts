/** The quickstart (docs/guides/quickstart.md), pasted line by line into one shell, prints what it says. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { startProgram } from '../../testbed/program.ts'
import { root } from '../../testbed/repository.ts'
import { environment, npmStart } from '../../testbed/services.ts'

interface Step {
  readonly commands: string
  /** The second terminal runs what is marked as `sh`; what is not is for the first or the third. */
  readonly where: 'service' | 'second' | 'third'
  /** What it prints, `…` standing for anything; null where the quickstart does not say. */
  readonly prints: readonly string[] | null
  /** What the third terminal prints meanwhile. */
  readonly third: readonly string[]
}

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const quickstart = readFileSync(join(root, 'docs/guides/quickstart.md'), 'utf8')

function steps(): Step[] {
  const blocks = [...quickstart.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
    kind,
    text,
  }))
  expect(blocks.filter(({ kind }) => !['sh', 'text', ''].includes(kind as string))).toEqual([])
  return blocks.flatMap(({ kind, text }, n): Step[] => {
    if (kind === 'text') return []
    const commands = text as string
    const where = kind === 'sh' ? 'second' : commands.includes('npm start') ? 'service' : 'third'
    const [printed, more] = [blocks[n + 1], blocks[n + 2]].map((next) =>
      next?.kind === 'text' ? (next.text as string).split('\n').filter((line) => line !== '') : null,
    )
    const prints = printed ?? null
    if (where === 'third') return [{ commands, where, prints: null, third: prints ?? [] }]
    return [{ commands, where, prints, third: (prints !== null && more) || [] }]
  })
}

/** A terminal that something is left running in, until Ctrl-C. */
function terminal(commands: string, settings: Record<string, string>) {
  const program = startProgram('bash', ['-c', commands], {
    cwd: root,
    env: environment(settings),
    group: true,
  })
  return {
    lines: () => program.output.all.split('\n').slice(0, -1),
    async [Symbol.asyncDispose]() {
      await program.end('SIGINT', 'group')
    },
  }
}

/** One shell for the whole walk, as a person has one. */
function shell(dataDir: string) {
  const env = environment({ DESKWIRE_DATA_DIR: dataDir })
  const bash = startProgram('bash', ['--noprofile', '--norc'], { cwd: root, env, input: 'open' })
  const { output } = bash
  return {
    errors: () => output.stderr,
    /** What the commands print, blank lines apart. */
    async run(commands: string): Promise<string[]> {
      const before = output.stdout.length
      const mark = `done-${crypto.randomUUID()}`
      bash.stdin?.write(`${commands}\necho ${mark}\n`)
      await eventually(`the end of ${commands}`, () => output.stdout.includes(mark) || !bash.running())
      const printed = output.stdout.slice(before, output.stdout.indexOf(mark))
      return printed.split('\n').filter((line) => line !== '')
    },
    async [Symbol.asyncDispose]() {
      bash.stdin?.end()
      await bash.ended
    },
  }
}

function expected(line: string): RegExp {
  // How wide a column is differs with what stands in it.
  const parts = line
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/ {2,}/g, ' +'))
  return new RegExp(`^${parts.join('.*')}$`)
}

test('the README says how to start', () => {
  expect(readme).toContain('\n```\nnpm ci && npm start\nnpx deskwire demo\n```\n')
})

test('the quickstart works as it is written', async () => {
  await using dataDir = await temporaryDataDir()
  const [, start = ''] = /`npm ci && (npm start[^`]*)`/.exec(quickstart) ?? []
  await using first = await npmStart({ DESKWIRE_DATA_DIR: dataDir.path }, `exec ${start}`)
  const [key = ''] = /dwk_[0-9A-Za-z]{36}/.exec(first.output.stdout) ?? []
  const { port } = new URL(first.url)
  const walk = steps()
  expect(walk.length).toBeGreaterThan(9)
  expect(walk[0]?.commands).toContain(
    'export DESKWIRE_API_KEY=dwk_…\nexport DESKWIRE_URL=http://127.0.0.1:8080/v1\n',
  )
  await using stack = new AsyncDisposableStack()
  let service = first
  let third: ReturnType<typeof terminal> | undefined
  const thirdExpects: string[] = []
  const bash = stack.use(shell(dataDir.path))
  for (const { commands, where, prints, third: more } of walk) {
    if (where === 'service') {
      expect((await service.end('SIGINT', 'group')).code).toBe(0)
      const settings = { DESKWIRE_DATA_DIR: dataDir.path, DESKWIRE_PORT: port }
      service = stack.use(await npmStart(settings, commands))
      expect(service.url).toBe(first.url)
    } else if (where === 'third') {
      const exported = {
        DESKWIRE_API_KEY: key,
        DESKWIRE_URL: `${first.url}/v1`,
        DESKWIRE_DATA_DIR: dataDir.path,
      }
      third = stack.use(terminal(commands, exported))
    } else {
      const own = commands.replace('dwk_…', key).replace('http://127.0.0.1:8080', first.url)
      const printed = await bash.run(own)
      prints?.forEach((line, n) => {
        expect(printed[n], `${commands}\n${bash.errors()}`).toMatch(expected(line))
      })
      if (prints !== null) expect(printed.length, printed.join('\n')).toBe(prints.length)
    }
    thirdExpects.push(...more)
    await eventually('the third terminal', () => (third?.lines().length ?? 0) >= thirdExpects.length)
    thirdExpects.forEach((line, n) => {
      expect(third?.lines()[n]).toMatch(expected(line))
    })
  }
  expect(thirdExpects.length).toBe(3)
  expect(bash.errors()).toBe('')
  await third?.[Symbol.asyncDispose]()
  expect(third?.lines().at(-1)).toMatch(/^webhook \S+ deleted$/)
  expect((await service.end('SIGINT', 'group')).code).toBe(0)
})
