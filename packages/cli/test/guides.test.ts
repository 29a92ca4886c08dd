/** What guides and READMEs name is there: commands, flags, settings; and nothing is installed from a registry that has it not. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settings } from '@deskwire/service'
import { beforeAll, expect, test, vi } from 'vitest'
import { filesEndingIn, root, textOf } from '../../testbed/repository.ts'
import { commands } from '../src/commands.ts'

const documents = filesEndingIn(['.md']).filter((file) =>
  /^(?:README\.md|docs\/guides\/|packages\/\w+\/README\.md|docs\/specification\.md)/.test(file),
)

/** Code of each document: lines of blocks, with those that are continued as one, and code within a line. */
const code = documents.flatMap((file) => {
  const text = textOf(file)
  const blocks = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  )
  const inline = [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([^`]+)`/g)]
  const lines = [...blocks, ...inline.map(([, one = '']) => one.replaceAll('\n', ' '))]
  return lines.map((line) => ({ file, line }))
})

const helps = new Map<string, string>()
beforeAll(async () => {
  for (const { name, load } of commands) {
    // What starts the service replaces its process where it is loaded.
    helps.set(name, name === 'serve' ? '' : (await load()).help())
  }
  helps.set('serve', textOf('docs/reference/commands.md'))
})

test('help depends neither on the user nor on settings, as the reference is made from it', async () => {
  const ofUser = ['HOME', 'XDG_CONFIG_HOME', 'APPDATA', 'TMPDIR', 'USER', ...notOfTheService]
  for (const name of [...ofUser, ...Object.values(settings).map(({ variable }) => variable)])
    vi.stubEnv(name, '/elsewhere')
  try {
    for (const { name, load } of commands)
      if (name !== 'serve') expect((await load()).help(), name).toBe(helps.get(name))
  } finally {
    vi.unstubAllEnvs()
  }
})

test('commands and their flags exist', () => {
  const wrong: string[] = []
  let found = 0
  for (const { file, line } of code) {
    // A pipe or a second command ends it.
    for (const [, rest = ''] of line.matchAll(/(?:^\s*|npx |\$\(|[|&] |bin\/)deskwire ((?!:)[^|;&)]*)/g)) {
      const words = rest.trim().split(/\s+/)
      if (!/^[a-z-]+$/.test(words[0] ?? '')) continue
      const command = [...helps.keys()]
        .sort((a, b) => b.length - a.length)
        .find((name) => name.split(' ').every((word, n) => word === words[n]))
      found++
      if (command === undefined) wrong.push(`${file}: deskwire ${rest}`)
      const help = helps.get(command ?? '') ?? ''
      for (const [flag] of rest.matchAll(/(?<=\s)--[a-z][a-z-]*/g))
        if (flag !== '--help' && !new RegExp(`${flag}(?![\\w-])`).test(help))
          wrong.push(`${file}: ${rest}: ${flag}`)
    }
  }
  expect(found).toBeGreaterThan(60)
  expect(wrong).toEqual([])
})

/** Read by commands that call a service, and by programs that guides show. */
const notOfTheService = [
  'DESKWIRE_URL',
  'DESKWIRE_API_KEY',
  'DESKWIRE_PROFILE',
  'DESKWIRE_WEBHOOK_SECRET',
  'DESKWIRE_HASH_KEY',
  'DESKWIRE_MIRROR',
]

test('settings exist', () => {
  const known: readonly string[] = [
    ...Object.values(settings).map(({ variable }) => variable),
    ...notOfTheService,
  ]
  const named = documents.flatMap((file) =>
    (textOf(file).match(/\bDESKWIRE_[A-Z_]*[A-Z]\b/g) ?? []).map((name) => `${file} ${name}`),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((one) => !known.includes(one.split(' ')[1] as string))).toEqual([])
})

test('nothing of ours is installed by a name that a registry would have to know', () => {
  const installs = code.filter(({ line }) =>
    /\b(?:npm (?:install|i|add)|pnpm add|yarn add|pip3? install|uv (?:pip install|add)|poetry add)\b/.test(
      line,
    ),
  )
  expect(installs.length).toBeGreaterThan(5)
  const named = installs.filter(({ line }) =>
    line
      .split(/\s+/)
      .some((word) => /^["']?(?:@deskwire\/|deskwire(?:[-_]\w+)?(?:[@[=><~!"']|$))/.test(word)),
  )
  expect(named).toEqual([])
})

/** What needs a later Node than the SDK, as its page says. */
const later = /'(?:node:sqlite|@deskwire\/(?:mirror|service)\S*)'/

test('samples of the SDK use nothing that Node 20 lacks', () => {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-node-20-'))
  try {
    const samples = documents.flatMap((file) =>
      [...textOf(file).matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, sample = '']) => sample),
    )
    expect(samples.length).toBeGreaterThan(20)
    const files = [...samples.filter((sample) => !later.test(sample)), 'Promise.withResolvers()\n'].map(
      (sample, n) => {
        const path = join(directory, `${n}.ts`)
        // As a module of its own, which may return.
        writeFileSync(path, `export {}\n${sample}`)
        return path
      },
    )
    const options = [
      '--noEmit',
      '--target',
      'es2023',
      '--lib',
      'es2023',
      '--types',
      '',
      '--module',
      'nodenext',
      '--ignoreConfig',
    ]
    const said = (() => {
      try {
        return execFileSync(
          process.execPath,
          [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...files],
          {
            cwd: directory,
            encoding: 'utf8',
          },
        )
      } catch (error) {
        return (error as { stdout: string }).stdout
      }
    })()
    // Of all that it says of parts of programs, what a later library would have.
    const lacking = said.split('\n').filter((line) => /error TS(?:2550|2583):/.test(line))
    expect(lacking).toEqual([expect.stringMatching(new RegExp(`^${files.length - 1}\\.ts.*withResolvers`))])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
