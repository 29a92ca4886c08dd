/** The command line and `npm start`, as whole processes. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '@deskwire/service/version'
import { describe, expect, test, vi } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { freePort } from '../../testbed/loopback.ts'
import { deskwire, npmStart, piped, serve } from '../../testbed/services.ts'
import type { Command } from '../src/command.ts'
import { commandOf as commandNamed, commands } from '../src/commands.ts'
import { UsageError } from '../src/usage-error.ts'
import { runHere } from './run-here.ts'

const exampleKey = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
const tokenPattern = /dwk_[0-9A-Za-z]{36}/

/** The command that these words name, and the words after them, as the command line finds it. */
async function commandOf(line: string): Promise<{ command: Command; rest: string[] }> {
  const given = line.split(' ').filter((word) => word !== '')
  const found = commandNamed(given)
  if (found === null) throw new Error(`no command is named ${line}`)
  return { command: await found.command.load(), rest: given.slice(found.words) }
}

async function get(url: string, token: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, text: await response.text() }
}

test('npm start makes a first key, says where it listens, and stops on SIGTERM and on Ctrl-C', async () => {
  await using dataDir = await temporaryDataDir()
  const settings = { DESKWIRE_DATA_DIR: dataDir.path }
  let token = ''
  {
    await using service = await npmStart(settings)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    expect(service.output.stdout).toContain('its API key, shown this once: dwk_')
    const [, welcome = ''] = /^guides and reference at (\S+)$/m.exec(service.output.stdout) ?? []
    expect(await (await fetch(welcome)).text()).toContain('<title>Deskwire</title>')
    expect(service.output.stdout).toMatch(new RegExp(`^console at ${service.url}/console$`, 'm'))
    expect(service.output.stderr).not.toContain('refuse to connect')
    token = tokenPattern.exec(service.output.stdout)?.[0] as string
    expect((await get(`${service.url}/v1/customers`, token)).status).toBe(200)
    expect(service.output.stderr).not.toContain(token)

    const ended = await service.end('SIGTERM')
    expect(ended.code).toBe(0)
    expect(service.running()).toBe(false)
    expect(await dataDir.running()).toEqual([])
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
  }
  await using again = await npmStart({ ...settings, DESKWIRE_PUBLIC_URL: 'http://desk.example:6000' })
  expect(again.output.stdout).not.toMatch(tokenPattern)
  expect(again.output.stdout).toMatch(/^console at http:\/\/desk\.example:6000\/console$/m)
  await eventually('the port is warned of', () =>
    /refuse to connect to port 6000, .* set DESKWIRE_PUBLIC_URL to/.test(again.output.stderr),
  )
  expect((await get(`${again.url}/v1/customers`, token)).status).toBe(200)
  // A terminal sends Ctrl-C to npm and to what npm runs, and npm passes its own on: the service gets two.
  const ended = await again.end('SIGINT', 'group')
  expect(ended.code).toBe(0)
  expect(again.running()).toBe(false)
  expect(await dataDir.running()).toEqual([])
  expect(existsSync(join(dataDir.path, 'hold.json'))).toBe(false)
})

test('commands work beside a running service; a second service on its data is told who runs it', async () => {
  await using dataDir = await temporaryDataDir({ installed: true })
  const settings = { DESKWIRE_DATA_DIR: dataDir.path }
  await using service = await serve([], { settings: { ...settings, DESKWIRE_BOOTSTRAP_KEY: exampleKey } })
  expect(service.output.stdout).toContain('its API key is the one in DESKWIRE_BOOTSTRAP_KEY')
  expect(service.output.stdout).not.toContain(exampleKey)
  const [first = ''] = service.output.stderr.split('\n')
  expect(JSON.parse(first)).toMatchObject({ version, msg: 'starting' })
  expect((await get(`${service.url}/v1/customers`, exampleKey)).status).toBe(200)

  const second = await deskwire(['serve', '--port', '0'], { settings })
  expect(second.code).toBe(1)
  expect(second.stdout).toBe('')
  expect(second.stderr).toMatch(
    /^deskwire: \S+ is in use by process \d+ \(deskwire\.js serve, since \S+Z\): stop it first, or give this one another DESKWIRE_DATA_DIR\n$/m,
  )

  const org = await runHere(['organizations', 'create', '--name', 'Engines', '--json'], { settings })
  expect(org).toMatchObject({ code: 0, stderr: '' })
  const made = JSON.parse(org.stdout)
  expect(Object.keys(made)).toEqual(['organizationId', 'apiKeyId', 'token'])
  const { organizationId } = made
  expect((await get(`${service.url}/v1/customers`, made.token)).status).toBe(200)

  const given = [organizationId, '--name', 'reporting', '--scopes', 'tickets:read']
  const key = await runHere(['organizations', 'create-key', ...given, '--data-dir', dataDir.path])
  expect(key).toMatchObject({ code: 0, stderr: '' })
  expect(key.stdout).toMatch(/^API key, shown this once: dwk_\w{36}\n$/)
  const reader = tokenPattern.exec(key.stdout)?.[0] as string
  expect((await get(`${service.url}/v1/tickets`, reader)).status).toBe(200)
  expect((await get(`${service.url}/v1/customers`, reader)).status).toBe(403)

  const nobody = ['01980000-0000-7000-8000-000000000001', '--name', 'x', '--scopes', '*', '--json']
  expect(await runHere(['organizations', 'create-key', ...nobody], { settings })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'deskwire: there is no organization 01980000-0000-7000-8000-000000000001\n',
  })
  const migrated = await runHere(['migrate', '--json'], { settings })
  expect(migrated).toEqual({ code: 0, stdout: '{"applied":[]}\n', stderr: '' })

  const { port } = new URL(service.url)
  await using other = await temporaryDataDir({ installed: true })
  const taken = await deskwire(['serve', '--port', port, '--log-level', 'silent', '--data-dir', other.path])
  expect(taken.code).toBe(1)
  expect(taken.stderr).toBe(
    `deskwire: cannot listen on 127.0.0.1, port ${port}: something else listens there; set DESKWIRE_HOST and DESKWIRE_PORT (port 0 picks a free one)\n`,
  )
  expect(await other.running()).toEqual([])
})

test('commands work without a running service, and leave none; no variable of PostgreSQL in the shell reaches its database', async () => {
  await using dataDir = await temporaryDataDir()
  const settings = {
    PGSSLMODE: 'require',
    PGOPTIONS: '-c no_such_setting=1',
    PGHOST: 'no-such-host.invalid',
    PGSERVICE: 'nothing',
    PGPASSFILE: '/nowhere',
    PGTZ: 'Mars/Olympus',
    PGCLIENTENCODING: 'LATIN1',
    PGDATA: '/nowhere',
  }
  const place = ['--data-dir', dataDir.path]
  const made = await deskwire(['organizations', 'create', '--name', 'Ada 🛠', ...place], { settings })
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const [, organizationId] = /^organization (\S+)\nAPI key, shown this once: dwk_\w{36}\n$/.exec(
    made.stdout,
  ) as RegExpExecArray
  const given = [organizationId as string, '--name', 'x', '--scopes', '*', '--json']
  const key = await runHere(['organizations', 'create-key', ...given, ...place])
  expect(JSON.parse(key.stdout)).toMatchObject({ organizationId, token: expect.stringMatching(tokenPattern) })
  expect((await runHere(['migrate', ...place])).stdout).toBe('up to date\n')
  expect(await dataDir.running()).toEqual([])

  await using service = await serve([...place, '--log-level', 'error'], { settings })
  expect(service.url).toMatch(/^http:/)
  expect((await deskwire(['organizations', 'list', ...place], { settings })).stdout).toContain('Ada 🛠')
})

test('a database that does not answer is one line', async () => {
  const url = `postgres://someone:hidden@127.0.0.1:${await freePort()}/desk`
  const ran = await runHere(['migrate', '--database-url', url])
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toMatch(/^deskwire: the database cannot be used: [^\n]*ECONNREFUSED[^\n]*\n$/)
  expect(ran.stderr).not.toContain('hidden')
})

describe('a mistake is one line, exit code 2, and starts nothing', () => {
  const org = '01980000-0000-7000-8000-000000000001'
  /** As the command line finds them, one of each sort. What else `serve` refuses, packages/service/test/config.test.ts shows. */
  const typed: readonly { words: string; line: RegExp; settings?: Record<string, string> }[] = [
    {
      words: 'serve',
      settings: { DESKWIRE_PORT: 'abc' },
      line: /^DESKWIRE_PORT: "abc" is not accepted; it must be a port from 0 to 65535$/,
    },
    {
      words: 'serve',
      settings: { DESKWIRE_BOOTSTRAP_KEY: 'dwk_x' },
      line: /^DESKWIRE_BOOTSTRAP_KEY: what is set is not accepted; it must be an API key/,
    },
    { words: 'serve --prot 1', line: /--prot.*see deskwire serve --help$/ },
    {
      words: 'organizations',
      line: /^organizations needs one of: create, list, /,
    },
  ]
  /** As their commands take them: how a mistake is told and what the exit code is, is the same for all. */
  const others: readonly { words: string; line: RegExp }[] = [
    { words: 'trigger ticket.created twice', line: /'twice'; accepted: --url, --key, --profile, --json$/ },
    {
      words: 'organizations create-key --name x --scopes *',
      line: /^organizations create-key needs the id of an organization/,
    },
    { words: 'organizations create', line: /^organizations create needs --name with 1 to 255 characters$/ },
    {
      words: 'organizations create --nam x',
      line: /--nam.*; accepted: --name, --database, --data-dir, --database-url, --databases, --json$/,
    },
    { words: 'organizations create --name --json', line: /--name.*; accepted: --name, / },
    {
      words: 'organizations create --name x --database-url mysql://x',
      line: /^DESKWIRE_DATABASE_URL: what is set is not accepted/,
    },
    { words: `organizations create-key ${org} --scopes *`, line: /^organizations create-key needs --name/ },
    {
      words: `organizations create-key ${org} --name x --scopes tickets:reed`,
      line: /there is no scope tickets:reed$/,
    },
    {
      words: 'organizations delete x',
      line: /^organizations delete needs the id of an organization \(a UUID\)$/,
    },
    { words: `organizations revoke-key ${org}`, line: /^organizations revoke-key needs the id of a key/ },
    { words: 'migrate twice', line: /'twice'; accepted: / },
    { words: 'trigger', line: /^trigger needs an event type; there are: customer\.created, / },
    {
      words: 'trigger ticket.lost',
      line: /^there is no event type "ticket\.lost"; there are: customer\.created, /,
    },
    {
      words: 'trigger ticket.created',
      line: /^trigger needs a service and a key: set DESKWIRE_URL .*, or run deskwire login once$/,
    },
    { words: 'trigger ticket.created --url http://127.0.0.1:1', line: /^there is a service and no key/ },
    { words: 'listen --port 70000', line: /^--port: "70000" is not accepted/ },
    { words: 'listen --secret abc', line: /^--secret: what is given is not accepted; .* whsec_…$/ },
    { words: 'listen --events ticket.created', line: /^--events needs --url and --key as well$/ },
    {
      words: 'listen --forward-to ftp://x',
      line: /^--forward-to: "ftp:\/\/x" is not accepted; .* http:\/\/localhost:3000\/hook$/,
    },
    { words: 'listen --key dwk_x', line: /^there is a key and no service/ },
    { words: 'demo --url nowhere --key x', line: /^--url: "nowhere" is not accepted; it must be like http:/ },
  ]

  test.each(typed)('deskwire $words', async ({ words, line, settings = {} }) => {
    await using place = await temporaryDataDir()
    // `serve` may replace its process.
    const run = words.startsWith('serve') ? deskwire : runHere
    const ran = await run(words.split(' '), { settings, cwd: place.parent })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toMatch(/^deskwire: [^\n]+\n$/)
    expect(ran.stderr.slice('deskwire: '.length, -1)).toMatch(line)
    expect(existsSync(place.path)).toBe(false)
  })

  test.each(others)('$words', async ({ words, line }) => {
    await using place = await temporaryDataDir()
    vi.stubEnv('DESKWIRE_DATA_DIR', place.path)
    const said = vi.spyOn(process.stdout, 'write')
    try {
      const { command, rest } = await commandOf(words)
      const mistake: unknown = await command.run(rest).catch((error) => error)
      expect(mistake).toBeInstanceOf(UsageError)
      expect((mistake as UsageError).message).toMatch(line)
      expect((mistake as UsageError).message).not.toContain('\n')
      expect(said).not.toHaveBeenCalled()
      expect(existsSync(place.path)).toBe(false)
    } finally {
      vi.unstubAllEnvs()
      said.mockRestore()
    }
  })
})

test('deskwire --version says which release it is', async () => {
  expect(await deskwire(['--version'])).toEqual({
    code: 0,
    stdout: `${version} (from a checkout)\n`,
    stderr: '',
  })
})

describe('help', () => {
  const listed = (said: string) => {
    for (const { name, summary, operation } of commands) {
      const [resource, verb] = name.split(' ')
      const line =
        operation === undefined
          ? `${name} +${summary.replace(/[()]/g, '\\$&')}$`
          : `${resource} .*\\b${verb}\\b`
      expect(said).toMatch(new RegExp(`^  ${line}`, 'm'))
    }
  }

  test('deskwire --help lists the commands', async () => {
    const ran = await deskwire(['--help'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    listed(ran.stdout)
  })

  test.each(['', '-h', 'help'])('and so does deskwire %s', async (words) => {
    listed((await runHere(words.split(' ').filter((word) => word !== ''))).stdout)
  })

  test('deskwire organizations create-key --help prints that of the command', async () => {
    const { command } = await commandOf('organizations create-key')
    const ran = await deskwire(['organizations', 'create-key', '--help'])
    expect(ran).toEqual({ code: 0, stdout: command.help(), stderr: '' })
  })

  test('half a name lists the commands that begin with it', async () => {
    const { stdout } = await runHere(['organizations', '--help'])
    expect(stdout).toMatch(/^ {2}organizations create +make an organization/m)
    expect(stdout).not.toContain('backup create')
  })

  test.each(commands.map(({ name }) => name))('of %s', async (name) => {
    const help = (await commandOf(name)).command.help()
    const group = commands.find((one) => one.name === name)?.group
    expect(help).toMatch(new RegExp(`^deskwire ${name}[: ]`))
    expect(help.endsWith('\n')).toBe(true)
    // How each says where it works: on a service, on its database, or on what it is given.
    const overHttp = ['login', 'whoami', 'api', 'listen', 'trigger', 'tail', 'import', 'export', 'demo']
    const elsewhere: Record<string, string> = {
      'chaos-receiver': '--forward-to',
      'signature sign': 'FILE',
      'signature verify': 'FILE',
      'mirror status': '--to',
      'mirror dbt': '--to',
      logout: '--profile',
      conform: 'BASE_URL',
      completion: 'SHELL',
    }
    const works = elsewhere[name] ?? (overHttp.includes(name) || group === 'data' ? '--url' : '--data-dir')
    expect(help).toContain(works)
  })
})

test('a command ends without a stack trace where its output is closed or full', async () => {
  expect(await piped(['mirror', 'run', '--help'], '> /dev/full')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^deskwire: standard output cannot be written: ENOSPC[^\n]*\n$/),
  })
  expect(await piped(['--help'], '| true')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await piped(['no-such-command'], '2> /dev/full')).toEqual({ code: 2, stdout: '', stderr: '' })
})

test('serve stops its database when its output is closed or full, and goes on without its log', async () => {
  await using dataDir = await temporaryDataDir({ installed: true })
  const serve = ['serve', '--port', '0', '--data-dir', dataDir.path]
  const closed = await piped(serve, '| head -1')
  expect(closed.code).toBe(0)
  expect(closed.stderr).not.toMatch(/^ +at /m)
  expect(await dataDir.running()).toEqual([])
  const full = await piped(serve, '> /dev/full')
  expect(full.code).toBe(1)
  expect(full.stderr).toMatch(/^deskwire: standard output cannot be written: ENOSPC/m)
  expect(await dataDir.running()).toEqual([])
  await using other = await temporaryDataDir({ installed: true })
  const unlogged = await piped([...serve.slice(0, -1), other.path], '2> /dev/full | head -1')
  expect([unlogged.code, unlogged.stdout]).toEqual([0, expect.stringMatching(/^organization/)])
  expect(await other.running()).toEqual([])
})
