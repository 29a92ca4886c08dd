/** `login` and what it keeps, `api`, and the commands of resources, at a running service. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { startHttpServer } from '../../testbed/loopback.ts'
import { startProgram } from '../../testbed/program.ts'
import { root, textOf } from '../../testbed/repository.ts'
import { environment, main, startDeskwire } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { commands, usage } from '../src/commands.ts'
import { kebab, operations, wordsOf } from '../src/resources/operation.ts'
import { runHere } from './run-here.ts'

const shared = sharedService()

async function desk() {
  const { token } = await shared().newOrganization()
  const at = ['--url', shared().url, '--key', token]
  return { token, at, run: (...words: string[]) => runHere([...words, ...at]) }
}

test('login keeps a key that works, for its user alone, and commands use it until logout', async () => {
  await using directory = await temporaryDataDir()
  const settings = { XDG_CONFIG_HOME: join(directory.parent, 'config') }
  const file = join(settings.XDG_CONFIG_HOME, 'deskwire', 'profiles.json')
  const run = (...words: string[]) => runHere(words, { settings })
  const none = await run('tickets', 'list')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('or run deskwire login once') })

  const refused = await run('login', '--url', shared().url, '--key', 'dwk_x')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  const [one, two] = [await desk(), await desk()]
  const piped = startDeskwire(['login', '--url', shared().url], { settings, input: 'open' })
  piped.stdin?.end(`${one.token}\n`)
  const kept = await piped.ended
  expect(kept).toMatchObject({ code: 0, stderr: '' })
  expect(kept.stdout).not.toContain(one.token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  await run('login', '--url', shared().url, '--key', two.token, '--profile', 'two')

  const known = JSON.parse((await run('whoami', '--json')).stdout)
  expect(known).toMatchObject({ url: `${shared().url}/v1`, key: { last4: one.token.slice(-4) } })
  const idOf = async (words: string[], more = {}) =>
    JSON.parse((await runHere(['whoami', '--json', ...words], { settings: { ...settings, ...more } })).stdout)
      .key.last4
  expect(await idOf(['--profile', 'two'])).toBe(two.token.slice(-4))
  expect(await idOf([], { DESKWIRE_PROFILE: 'two' })).toBe(two.token.slice(-4))
  // Flags, then the environment, then profiles.
  const environment = { DESKWIRE_URL: shared().url, DESKWIRE_API_KEY: one.token, DESKWIRE_PROFILE: 'two' }
  expect(await idOf([], environment)).toBe(one.token.slice(-4))
  expect(await idOf(two.at, environment)).toBe(two.token.slice(-4))
  expect(await run('whoami', '--profile', 'three')).toMatchObject({
    code: 2,
    stderr:
      'deskwire: there is no profile three, but default, two: deskwire login --profile three makes it\n',
  })
  // Of two keys, neither is chosen in silence.
  const either = await runHere(['customers', 'list'], {
    settings: { ...settings, DESKWIRE_API_KEY: two.token },
  })
  expect(either).toMatchObject({ code: 2, stdout: '' })
  expect(either.stderr).toMatch(
    /two keys, that of the profile default .*: give --profile default .*, or set DESKWIRE_URL/,
  )
  expect(await idOf(['--profile', 'default'], { DESKWIRE_API_KEY: two.token })).toBe(one.token.slice(-4))
  // A key goes to the service that it is of.
  expect((await run('whoami', '--url', 'http://127.0.0.1:1')).stderr).toMatch(
    /there is a service and no key: set DESKWIRE_API_KEY/,
  )
  expect((await run('whoami', '--profile', 'two', '--url', shared().url)).stderr).toMatch(
    /do not go together/,
  )

  expect((await run('logout')).stdout).toBe('profile default is forgotten; its key stays valid\n')
  expect(readFileSync(file, 'utf8')).not.toContain(one.token)
  expect((await run('tickets', 'list')).code).toBe(2)
  writeFileSync(file, 'nothing')
  expect((await run('whoami')).stderr).toMatch(/profiles\.json does not hold profiles: delete it/)
})

test('login says which setting names a directory, where the one of profiles cannot be made', async () => {
  const { token } = await desk()
  await using directory = await temporaryDataDir()
  const file = join(directory.parent, 'file')
  writeFileSync(file, '')
  // Below /proc a directory cannot be made although its parent is there.
  for (const home of ['/proc', file]) {
    const settings = { XDG_CONFIG_HOME: home }
    expect(await runHere(['login', '--url', shared().url, '--key', token], { settings })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^deskwire: profiles cannot be kept \(.*\): set XDG_CONFIG_HOME to a dir/,
      ),
    })
    expect(await runHere(['logout'], { settings })).toMatchObject({
      stdout: 'profile default was not there\n',
    })
  }
})

test('rows are made, listed, shown, changed and deleted', async () => {
  const { run } = await desk()
  const made = await run(
    'customers',
    'create',
    '--name',
    'Ada',
    '--tags',
    'a,b',
    '-f',
    'customAttributes.plan=pro',
    '--json',
  )
  const { id } = JSON.parse(made.stdout)
  const ticket = await run(
    'tickets',
    'create',
    '--customer-id',
    id,
    '--subject',
    'The engine halts',
    '--output',
    'ndjson',
  )
  expect(JSON.parse(ticket.stdout)).toMatchObject({ customerId: id, status: 'new' })
  await run(
    'tickets',
    'create',
    '--data',
    JSON.stringify({ customerId: id, subject: 'Jammed' }),
    '--priority',
    'high',
  )

  const table = await run('tickets', 'list', '--priority', 'high')
  expect(table.stdout).toMatch(/^ID +NUMBER +SUBJECT .*\n\S{36} +2 +Jammed .*\n$/)
  const lines = await run('tickets', 'list', '--output', 'ndjson', '--fields', 'number,subject')
  expect(lines.stdout).toBe('{"number":2,"subject":"Jammed"}\n{"number":1,"subject":"The engine halts"}\n')
  const paged = await run('tickets', 'list', '--limit', '1', '--fields', 'number')
  expect((await run('events', 'list', '--limit', '1')).stdout).toMatch(
    /^ID +CREATEDAT +TYPE\n\S+ +\S+ +customer\.created\n$/,
  )
  const { stdout: helpOfCreate } = await run('webhooks', 'create', '--help')
  expect(helpOfCreate).toMatch(/--endpoint TEXT +required; the field url: --url is the service/)
  expect(paged).toMatchObject({ stdout: 'NUMBER\n2\n', stderr: '1 of 2: --all shows every one\n' })
  expect((await run('tickets', 'list', '--status', 'closed')).stderr).toBe('nothing found\n')
  for (const words of [
    ['tickets', 'list'],
    ['tickets', 'list', '--output', 'ndjson'],
    ['inbox', 'list'],
    ['events', 'list'],
  ]) {
    const { code, stdout, stderr } = await run(...words, '--all')
    expect({ code, stderr, rows: stdout.split('\n').length > 2 }).toEqual({
      code: 0,
      stderr: words[0] === 'inbox' ? 'nothing found\n' : '',
      rows: words[0] !== 'inbox',
    })
  }
  expect(await run('tickets', 'list', '--all', '--limit', '1')).toMatchObject({ code: 2, stdout: '' })

  const shown = await run('customers', 'get', id)
  expect(shown.stdout).toMatch(/^tags +a,b\ncustomAttributes +\{"plan":"pro"\}$/m)
  const changed = await run('customers', 'update', id, '--name', 'Ada Lovelace', '-f', 'tags:=[]', '--json')
  expect(JSON.parse(changed.stdout)).toMatchObject({ name: 'Ada Lovelace', tags: [] })
  for (const flag of ['--dry-run', '--dry-run=true', '--no-dry-run', '--dry-run=false']) {
    const { stdout } = await run('customers', 'create', '--name', 'Grace', flag, '--json')
    const found = await run('customers', 'get', JSON.parse(stdout).id)
    expect([flag, found.code]).toEqual([flag, /no|false/.test(flag) ? 0 : 1])
  }
  expect(await run('customers', 'delete', id)).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' })
  expect(await run('customers', 'delete', id, '--json')).toMatchObject({ code: 1, stdout: '' })
})

test('a person is exported and erased, and double booking prevented', async () => {
  const { run } = await desk()
  const printed = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words, '--json')
    expect([words, code, stderr]).toEqual([words, 0, ''])
    return JSON.parse(stdout)
  }
  const { id } = await printed('customers', 'create', '--name', 'Ada')
  await printed('conversations', 'create', '--customer-id', id, '--channel', 'chat')
  expect(await printed('customers', 'export-one', id)).toMatchObject({
    customer: { id },
    conversations: [{ customerId: id }],
  })
  expect(await printed('customers', 'erase', id)).toMatchObject({
    object: 'erasure',
    removed: { customer: 1, conversation: 1 },
  })
  expect((await run('customers', 'get', id)).code).toBe(1)
  expect(await printed('organization', 'update', '--prevent-double-booking')).toMatchObject({
    preventDoubleBooking: true,
  })
})

test('endpoints are registered, their log read, and what was missed is recovered', async () => {
  const { run } = await desk()
  const made = await run(
    'webhooks',
    'create',
    '--endpoint',
    'https://127.0.0.1:9/',
    '--events',
    'customer.created',
    '--json',
  )
  const { id, secret } = JSON.parse(made.stdout)
  expect(secret).toMatch(/^whsec_/)
  await run('customers', 'create', '--name', 'Ada')
  const log = await run('deliveries', 'list', '--webhook-id', id, '--output', 'ndjson')
  const delivery = JSON.parse(log.stdout)
  expect((await run('deliveries', 'payload', id, delivery.id)).stdout).toMatch(/^type +customer\.created$/m)
  const recovery = await run(
    'webhooks',
    'recover',
    id,
    '--since',
    new Date(Date.now() - 60_000).toISOString(),
    '--json',
  )
  expect(JSON.parse(recovery.stdout)).toMatchObject({ object: 'recovery' })
  expect(await run('deliveries', 'retry', id)).toMatchObject({
    code: 2,
    stderr: 'deskwire: deliveries retry needs DELIVERY_ID: see deskwire deliveries retry --help\n',
  })
})

test('api makes any call', async () => {
  const { run } = await desk()
  const made = await run('api', 'post', '/v1/customers', '-f', 'name=Ada', '-f', 'tags:=["a"]')
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'Ada', tags: ['a'] })
  const { id } = JSON.parse(made.stdout)
  const read = async (...words: string[]) => JSON.parse((await run('api', ...words)).stdout).data.length
  expect([
    await read('customers?limit=1'),
    await read('GET', '/customers?limit=5', '-f', 'tag=none'),
  ]).toEqual([1, 0])
  const stale = await run('api', 'PATCH', `/customers/${id}`, '-f', 'name=Eve', '-H', 'If-Match: "none"')
  expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining('412 version_mismatch') })
  for (const wrong of [
    [],
    ['FETCH', '/customers'],
    ['/customers', '-f', 'name'],
    ['/customers', '--data', '['],
  ])
    expect([wrong, (await run('api', ...wrong)).code]).toEqual([wrong, 2])
})

test.each([
  [
    '{"customAttributes":{"seats":1E400}}',
    'customAttributes.seats: must be a number that a double (IEEE 754) holds',
  ],
  [
    '{"customAttributes":{"seats":9007199254740993}}',
    'customAttributes.seats: must be a number that a double (IEEE 754) holds',
  ],
  ['{"name":"Ada","name":"Eve"}', 'name: has its name twice in one object'],
  ['{"customAttributes":{"seats":1,"seats":2}}', 'customAttributes.seats: has its name twice in one object'],
])('%s is refused by each command that sends it, and changes nothing', async (data, fault) => {
  const { run } = await desk()
  const made = await run('customers', 'create', '--name', 'Ada', '-f', 'customAttributes.seats:=5', '--json')
  const { id } = JSON.parse(made.stdout)
  const value = data.startsWith('{"customAttributes":') ? data.slice(20, -1) : null
  const commands = [
    ['api', 'PATCH', `/customers/${id}`, '--data', data],
    ['customers', 'update', id, '--data', data],
    ...(value === null
      ? []
      : [
          ['customers', 'update', id, '--custom-attributes', value],
          ['customers', 'update', id, '-f', `customAttributes:=${value}`],
          ['api', 'PATCH', `/customers/${id}`, '-f', `customAttributes:=${value}`],
        ]),
  ]
  for (const words of commands) {
    const { code, stdout, stderr } = await run(...words)
    expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' })
    expect(stderr).toContain(words.includes('--data') ? fault : fault.replace('customAttributes.', ''))
  }
  const { stdout } = await run('customers', 'get', id, '--json')
  expect(JSON.parse(stdout)).toMatchObject({ name: 'Ada', customAttributes: { seats: 5 } })
})

test('a flag or a field that is given twice is refused', async () => {
  const { run } = await desk()
  for (const [words, line] of [
    [['--name', 'Ada', '--name', 'Eve'], '--name is given twice'],
    [['--name', 'Ada', '--dry-run', '--no-dry-run'], '--dry-run and --no-dry-run do not go together'],
    [['-f', 'name=Ada', '-f', 'name=Eve'], '--field name is given twice'],
    [
      ['-f', 'customAttributes.a=1', '-f', 'customAttributes.a:=2'],
      '--field customAttributes.a is given twice',
    ],
  ] as const)
    expect(await run('customers', 'create', ...words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `deskwire: ${line}\n`,
    })
})

test('what a server sends is shown with its control characters, in a table and as JSON', async () => {
  const hostile = 'a\u001b]0;owned\u0007\u202eb'
  await using server = await startHttpServer((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data: [{ id: hostile, name: hostile, [hostile]: 1 }] })),
  )
  const at = ['--url', server.url, '--key', 'dwk_x']
  for (const words of [
    ['tickets', 'list'],
    ['tickets', 'list', '--json'],
    ['api', '/x'],
    ['tickets', 'get', 'x'],
  ]) {
    const { stdout } = await runHere([...words, ...at])
    expect(stdout).toContain('a\\u001b]0;owned\\u0007\\u202eb')
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  }
})

test('headings are bold on a terminal, and nowhere when NO_COLOR is set', async () => {
  const { at } = await desk()
  await runHere(['customers', 'create', '--name', 'Ada', ...at])
  const line = ['node', main, 'customers', 'list', '--fields', 'name', ...at].join(' ')
  const onTerminal = async (settings: Record<string, string>) => {
    // Node prints no colours where CI is set.
    const { CI: _, ...rest } = environment({ TERM: 'xterm-256color', ...settings })
    const env = {
      ...rest,
      PATH: `${process.execPath}/..:${process.env.PATH}`,
    }
    const words = ['-qec', line.replace('node', process.execPath), '/dev/null']
    return (await startProgram('script', words, { cwd: root, env }).ended).stdout
  }
  expect(await onTerminal({})).toContain('\u001b[1mNAME')
  expect(await onTerminal({ NO_COLOR: '1' })).not.toContain('\u001b')
  expect((await runHere(['customers', 'list', ...at])).stdout).not.toContain('\u001b')
})

test('a name that is not there is answered with the one that was meant', async () => {
  const said = async (...words: string[]) => (await runHere(words)).stderr
  expect(await said('tickts', 'list')).toContain('did you mean "deskwire tickets list"?')
  expect(await said('tickts')).toContain('did you mean "deskwire tickets --help"?')
  expect(await said('tickets', 'lst')).toContain('did you mean "deskwire tickets list"?')
  expect(await said('serv')).toContain('did you mean "deskwire serve"?')
  expect(await said('customer', 'list')).toContain('did you mean "deskwire customers list"?')
  expect(await said('org', 'list')).toContain('did you mean "deskwire organizations list"?')
  expect(await said('keys', 'list')).toContain('did you mean "deskwire api-keys list"?')
  expect(await said('verify')).toContain(
    'did you mean "deskwire mirror verify" or "deskwire signature verify"?',
  )
  expect(await said('tickets')).toContain('tickets needs one of: list, create, get, update, delete')
  expect(await said('backup', 'list')).toContain('there is no command "backup list"')
  expect((await runHere(['help', 'tickets', 'list'])).stdout).toMatch(/^deskwire tickets list: list/)
  expect((await runHere(['help', 'tickets'])).stdout).toContain('tickets update')
  expect(await runHere(['help', 'zzz'])).toMatchObject({ code: 2, stdout: '' })
  expect(await said('zzz')).toBe('deskwire: there is no command "zzz"; deskwire --help lists them all\n')
})

test('each call of the document has a command of its own, whose name no other has', () => {
  const names = commands.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const { paths } = JSON.parse(textOf('openapi.json'))
  for (const { method, path } of operations) {
    const address = path.startsWith('/..') ? path.slice(3) : `/v1${path}`
    expect(paths[address][method.toLowerCase()]).toBeDefined()
  }
  expect(operations.length).toBeGreaterThan(60)
  // Operators' calls are commands next to the database, under the same names; `list` shows what `get` does.
  const ofOperator = [...textOf('docs/reference/methods.md').matchAll(/`admin\.(\w+)\.(\w+)`/g)]
    .map(([, resource = '', name = '']) => `${resource} ${kebab(name)}`)
    .filter((name) => name !== 'organizations get')
  expect(ofOperator.length).toBeGreaterThan(5)
  expect(ofOperator.filter((name) => !names.includes(name))).toEqual([])
  expect(operations.find(({ name }) => name === 'deliveries retry')).toMatchObject({ method: 'POST' })
  for (const one of operations) expect(wordsOf(one).length).toBe(one.path.split('{').length - 1)
  for (const title of [
    'Run the service (package deskwire)',
    'Develop against it',
    'Work with its data',
    'Diagnose',
  ])
    expect(usage()).toContain(`\n${title}\n`)
})
