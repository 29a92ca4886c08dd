/** What shells complete: every command, and of each exactly the flags that it accepts. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { deskwire } from '../../testbed/services.ts'
import type { NamedCommand } from '../src/command.ts'
import { commands } from '../src/commands.ts'
import { completionScript, flagsIn } from '../src/completion.ts'
import { UsageError } from '../src/usage-error.ts'

const scripts = new Map<string, Promise<string>>()
/** As the command prints it; once for each shell. */
function script(shell: string): Promise<string> {
  const printed = scripts.get(shell) ?? deskwire(['completion', shell]).then(({ stdout }) => stdout)
  scripts.set(shell, printed)
  return printed
}

/** What bash offers after these words, the last of which is being typed. */
function offered(bash: string, ...words: string[]): string[] {
  const line = `COMP_WORDS=(${['deskwire', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _deskwire; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', `${bash}\n${line}`], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

test('bash offers commands, the rest of a name, words and flags', async () => {
  const bash = await script('bash')
  expect(offered(bash, 'backup', 're')).toEqual(['restore'])
  expect(offered(bash, 'tickets', 'create', '--cust')).toEqual(['--customer-id', '--custom-attributes'])
  expect(offered(bash, 'organizations', '')).toEqual([
    'create',
    'list',
    'move',
    'drop-source',
    'balance',
    'suspend',
    'resume',
    'delete',
    'create-key',
    'list-keys',
    'revoke-key',
  ])
  expect(offered(bash, 'organizations', 'delete', '--y')).toEqual(['--yes'])
  expect(offered(bash, 'organizations', 'create-key', 'x', '--sc')).toEqual(['--scopes'])
  expect(offered(bash, 'trigger', 'ticket.s')).toEqual(['ticket.status_changed'])
  expect(offered(bash, 'export', 'boo')).toEqual(['bookings'])
  expect(offered(bash, 'serve', '--first')).toEqual(['--first-key-file'])
  expect(offered(bash, 'import', 'z')).toEqual(['zendesk'])
  expect(offered(bash, 'import', 'zendesk', '--di')).toEqual(['--dir'])
})

test('zsh and fish get every command too; another shell is refused with those that there are', async () => {
  const [zsh, fish] = [await script('zsh'), await script('fish')]
  for (const { name } of commands) {
    const [first, second] = name.split(' ')
    expect(zsh).toContain(`'${name}') found=(`)
    expect(fish).toContain(
      second === undefined ? `-f -a ${first} -d` : `'__deskwire_is ${first}' -f -a ${second} -d`,
    )
  }
  const none = await deskwire(['completion', 'csh'])
  expect(none).toEqual({
    code: 2,
    stdout: '',
    stderr: 'deskwire: completion needs a shell, one of bash, zsh, fish\n',
  })
})

test('what a shell is told is quoted', () => {
  const fish = completionScript('fish', [{ name: 'x', summary: "it's", flags: [], words: [] }])
  expect(fish).toContain("-d 'it\\'s'")
})

test.each(commands.map(({ name }) => name))(
  'the help of %s names the flags that it accepts',
  async (name) => {
    const command = await (commands.find((one) => one.name === name) as NamedCommand).load()
    const refusal: Error = await command.run(['--no-such-flag']).then(
      () => expect.unreachable('the flag was accepted'),
      (error) => error,
    )
    expect(refusal).toBeInstanceOf(UsageError)
    // Settings have a test of their own.
    if (name === 'serve') return
    const [, accepted = ''] = /; accepted: (.*)$/.exec(refusal.message) ?? []
    const names = accepted === '' ? [] : accepted.split(', ')
    expect([...flagsIn(command.help())].sort()).toEqual(names.sort())
    // It ends in examples of the command, with flags that it accepts.
    const [, examples = ''] = command.help().split(/\nExamples?:\n/)
    const used = [...examples.matchAll(/(?:^|\| )*deskwire (.*)$/gm)].map(([, line = '']) => line)
    expect(used.some((line) => line.startsWith(name))).toBe(true)
    for (const line of used.filter((one) => one.startsWith(name))) {
      const [own = ''] = line.split(' | ')
      expect((own.match(/(?<= )--[a-z-]+/g) ?? []).filter((flag) => !names.includes(flag))).toEqual([])
    }
  },
)
