/** Every exit code that the help of a command documents, by a run that ends with it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@deskwire/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { plantedMessage } from '../../mirror/test/planted.ts'
import { testDatabase } from '../../testbed/database.ts'
import { startDnsServer } from '../../testbed/dns-server.ts'
import { startHttpServer } from '../../testbed/loopback.ts'
import { testService } from '../../testbed/service.ts'
import { socketUrl } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { commands } from '../src/commands.ts'
import { runDeskwire } from '../src/run.ts'

const shared = sharedService()
const directory = mkdtempSync(join(tmpdir(), 'deskwire-codes-'))
afterAll(() => rmSync(directory, { recursive: true }))
const path = (name: string) => join(directory, name)
const file = (name: string, text: string) => {
  writeFileSync(path(name), text)
  return path(name)
}

let out = ''
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      out += String(text)
      return true
    })
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = 0
})

/** The words of a run; what is to happen while it runs. */
type Case = () => readonly string[] | Promise<readonly string[]>

let token: string
beforeAll(async () => {
  token = (await shared().newOrganization()).token
})
const at = (key = token) => ['--url', shared().url, '--key', key]
const database = () => ['--database-url', socketUrl(shared().database.connection)]
const nowhere = 'postgres://deskwire@127.0.0.1:1/deskwire'
const someId = '01980000-0000-7000-8000-000000000001'
const whsec = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'
const wrongLine: Case = () => ['--no-such-flag']

/** Stops this process's command, as Ctrl-C would, once the service or its output says that it is at work. */
function stopWhen(holds: () => boolean): void {
  const timer = setInterval(() => {
    if (!holds()) return
    clearInterval(timer)
    process.emit('SIGTERM')
  }, 5)
}

/** A service that takes calls and never answers; the command is stopped when one comes. */
async function silent(): Promise<string[]> {
  let called = false
  const server = await startHttpServer(() => {
    called = true
  })
  stopWhen(() => called)
  after.push(() => server[Symbol.asyncDispose]())
  return ['--url', server.url, '--key', 'dwk_x']
}
const after: (() => unknown)[] = []
afterEach(async () => {
  for (const end of after.splice(0)) await end()
})

/** A copy of an organization with a row that the store cannot hold; or with one that somebody has changed. */
async function copyOf(name: string, how: 'quarantined' | 'changed' | 'exact') {
  const { token: key } = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: key })
  if (how === 'quarantined') await plantedMessage(shared().database.pool, client, '\\u0000')
  else await client.customers.create({ name: 'Ada' })
  await runDeskwire(['mirror', 'run', '--to', path(name), '--once', ...at(key)])
  if (how === 'changed') {
    const copy = new DatabaseSync(path(name))
    copy.exec(`update customers set name = 'Eve'`)
    copy.close()
  }
  return ['--to', path(name), ...at(key)]
}

/** A database in which a row was changed by hand. */
async function changedDatabase(): Promise<string[]> {
  const service = await testService()
  after.push(() => service[Symbol.asyncDispose]())
  await (await service.newOrganization()).post('/v1/customers', { name: 'Ada' })
  await service.database.pool.query(`update customers set updated_at = updated_at + interval '1 second'`)
  return ['--database-url', socketUrl(service.database.connection)]
}

async function twoDatabases(second?: string): Promise<string[]> {
  const one = await testDatabase()
  const two = second === undefined ? await testDatabase() : null
  after.push(() => Promise.all([one, two].map((each) => each?.[Symbol.asyncDispose]())))
  const text = `one ${socketUrl(one.connection)}\ntwo ${second ?? socketUrl((two ?? one).connection)}\n`
  return ['--databases', file('databases', text)]
}

async function organizationIn(flags: readonly string[]): Promise<string> {
  out = ''
  await runDeskwire(['organizations', 'create', '--name', 'Desk', '--json', ...flags])
  return JSON.parse(out).organizationId
}

/** By command, by code. */
const cases: Readonly<Record<string, Readonly<Record<number, Case>>>> = {
  'organizations move': {
    0: async () => {
      const flags = await twoDatabases()
      return [await organizationIn(flags), '--to', 'one', ...flags]
    },
    1: async () => [someId, '--to', 'two', ...(await twoDatabases(nowhere))],
    2: wrongLine,
  },
  'organizations delete': {
    0: async () => {
      const id = await organizationIn(database())
      return [id, '--yes', id, ...database()]
    },
    1: () => [someId, '--yes', someId, '--database-url', nowhere],
    2: wrongLine,
  },
  listen: {
    0: () => {
      stopWhen(() => out.includes('listening on'))
      return ['--port', '0', '--secret', whsec, '--dir', path('listen')]
    },
    1: () => ['--dir', path('listen'), ...at('dwk_x')],
    2: wrongLine,
  },
  'chaos-receiver': {
    0: () => {
      stopWhen(() => out.includes('listening on'))
      return ['--port', '0', '--secret', whsec, '--dir', path('listen')]
    },
    1: () => ['--dir', path('listen'), ...at('dwk_x')],
    2: wrongLine,
  },
  'signature sign': {
    0: () => [file('body', '{"id":"a","type":"b"}'), '--secret', whsec],
    1: () => [path('none'), '--secret', whsec],
    2: wrongLine,
  },
  'signature verify': {
    0: async () => {
      out = ''
      await runDeskwire(['signature', 'sign', file('body', '{}'), '--secret', whsec, '--json'])
      return [path('body'), '--secret', whsec, '--signature', JSON.parse(out)['X-Service-Signature']]
    },
    1: () => [path('none'), '--secret', whsec, '--signature', 't=1,v1=00'],
    2: wrongLine,
    3: () => [file('body', '{}'), '--secret', whsec, '--signature', 't=1,v1=00'],
  },
  tail: { 0: () => ['--once', ...at()], 1: () => ['--once', ...at('dwk_x')], 2: wrongLine },
  'mirror run': {
    0: () => ['--to', path('mirror.db'), '--once', ...at()],
    1: () => ['--to', file('taken.db', 'mine'), '--once', ...at()],
    2: wrongLine,
    3: async () => ['--once', ...(await copyOf('mirror-quarantined.db', 'quarantined'))],
    130: async () => ['--to', path('stopped.db'), '--once', ...(await silent())],
  },
  'mirror status': {
    0: async () => (await copyOf('stated.db', 'exact')).slice(0, 2),
    1: () => ['--to', path('none.db')],
    2: wrongLine,
    3: async () => [...(await copyOf('late.db', 'exact')).slice(0, 2), '--max-lag', '0'],
  },
  'mirror dbt': {
    0: async () => (await copyOf('sources.db', 'exact')).slice(0, 2),
    1: () => ['--to', path('none.db')],
    2: wrongLine,
  },
  'mirror verify': {
    0: () => copyOf('exact.db', 'exact'),
    1: () => ['--to', path('none.db'), ...at()],
    2: wrongLine,
    3: () => copyOf('changed.db', 'changed'),
  },
  'mirror repair': {
    0: () => copyOf('repaired.db', 'changed'),
    1: () => ['--to', path('none.db'), ...at()],
    2: wrongLine,
    3: () => copyOf('quarantined.db', 'quarantined'),
  },
  import: {
    0: () => [file('good.csv', 'name\nAda\n'), ...at()],
    1: () => [path('good.csv'), ...at('dwk_x')],
    2: () => [file('unknown.csv', 'nmae\nAda\n'), ...at()],
    3: () => [file('bad.csv', 'email\nnope\n'), ...at()],
    130: async () => [path('good.csv'), ...(await silent())],
  },
  'import zendesk': {
    0: () => [file('account.json', '{"users":[{"id":1,"role":"end-user","name":"Ada"}]}'), ...at()],
    1: () => [path('account.json'), ...at('dwk_x')],
    2: () => [path('none.json'), ...at()],
    3: () => [
      file(
        'deleted.json',
        '{"users":[{"id":1,"role":"agent"}]}{"id":7,"status":"deleted","requester_id":1,"comments":[]}',
      ),
      ...at(),
    ],
    130: async () => [path('account.json'), ...(await silent())],
  },
  'import intercom': {
    0: () => [file('workspace.json', '{"type":"contact","id":"1"}'), ...at()],
    1: () => [path('workspace.json'), ...at('dwk_x')],
    2: () => [path('account.json'), ...at()],
    3: () => [file('ticket.json', '{"type":"ticket","id":"7"}'), ...at()],
    130: async () => [path('workspace.json'), ...(await silent())],
  },
  export: {
    0: () => ['customers', '--out', path('out'), ...at()],
    1: () => ['customers', '--out', path('none/out'), ...at()],
    2: wrongLine,
  },
  'backup create': {
    0: () => [path('a.backup'), ...database()],
    1: () => [path('a.backup'), ...database()],
    2: wrongLine,
    3: async () => [path('b.backup'), ...(await changedDatabase())],
  },
  doctor: {
    0: () => doctorOf(Buffer.alloc(32, 7)),
    2: wrongLine,
    3: () => doctorOf(null),
  },
  conform: {
    1: () => [shared().url, '--key', 'dwk_x'],
    2: wrongLine,
    3: async () => {
      const { organizationId } = await shared().newOrganization()
      const reader = await shared().newKey(organizationId, ['customers:read', 'tickets:read'])
      return [shared().url, '--key', reader.token]
    },
  },
  demo: { 1: () => ['--dir', path('listen'), '--url', 'http://127.0.0.1:1', '--key', 'dwk_x'], 2: wrongLine },
}

/** Nothing of the machine's own network is asked. */
async function doctorOf(key: Buffer | null): Promise<string[]> {
  const dns = await startDnsServer()
  after.push(() => dns.close())
  const flags = ['--dns-servers', dns.address, '--trusted-targets', '127.0.0.0/8', ...database()]
  return [...flags, ...(key === null ? [] : ['--encryption-key', key.toString('base64')])]
}

/** The codes that a command's help names. */
async function documented(name: string): Promise<number[]> {
  const command = commands.find((one) => one.name === name)
  const help = (await command?.load())?.help() ?? ''
  const [, section = ''] = /^(Exit codes: [\s\S]*?)\n\n/m.exec(help) ?? []
  const codes = [...section.matchAll(/(?:: |; )(\d+)\b/g)].map(([, code]) => Number(code))
  return codes.sort((a, b) => a - b)
}

test('there is a run for each code that a help documents', async () => {
  const names = commands.map(({ name }) => name)
  const found = await Promise.all(names.map(async (name) => [name, await documented(name)] as const))
  const walked = Object.entries(cases).map(([name, codes]) => [name, Object.keys(codes).map(Number)])
  // A whole demo is run by demo.e2e.test.ts, and a conform where all holds by conform.pg.test.ts.
  const whole = { demo: [0, 1, 2], conform: [0, 1, 2, 3] }
  expect(Object.fromEntries(found.filter(([, codes]) => codes.length > 0))).toEqual({
    ...Object.fromEntries(walked),
    ...whole,
  })
  const [, all = ''] =
    /## Exit codes([\s\S]*?)\n## /.exec(readFileSync('docs/reference/commands.md', 'utf8')) ?? []
  const meant = [...all.matchAll(/^\| `(\d+)` \|/gm)].map(([, code]) => Number(code))
  expect([...new Set(found.flatMap(([, codes]) => codes))].sort((a, b) => a - b)).toEqual(meant)
})

const runs = Object.entries(cases).flatMap(([name, codes]) =>
  Object.entries(codes).map(([code, words]) => [`${name} ${code}`, name, Number(code), words] as const),
)

test.each(runs)('%s', async (_, name, code, words) => {
  const given = await words()
  out = ''
  process.exitCode = undefined
  await runDeskwire([...name.split(' '), ...given])
  expect([process.exitCode ?? 0, out]).toEqual([code, out])
})

test.each(commands)('$name refuses a flag that it does not have, and helps', async ({ name }) => {
  for (const [flag, code] of [
    ['--no-such-flag', 2],
    ['--help', 0],
  ] as const) {
    process.exitCode = undefined
    await runDeskwire([...name.split(' '), flag])
    expect([flag, process.exitCode ?? 0]).toEqual([flag, code])
  }
})
