/**
 * `npm run check -- poolers`: the service behind Debian's PgBouncer in each of its modes: what it says when sessions
 * are lost, and that everything works with DESKWIRE_DATABASE_DIRECT_URL.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { newToken } from '../packages/service/src/auth/token.ts'
import { startHooks } from '../packages/testbed/arrivals.ts'
import { freePort, untilListening } from '../packages/testbed/loopback.ts'
import { deskwire, type ServiceProcess, serve } from '../packages/testbed/services.ts'
import { account, createServerIn, makeDirectory, startServer } from './deploy/postgres-server.ts'
import { tryOut } from './deploy/trial.ts'
import { report } from './report.ts'
import { logged } from './service-process.ts'

type PoolMode = 'session' | 'transaction' | 'statement'

/** The role that the guide has an operator create; the last of its SQL is for a schema in a shared database. */
const role = { user: 'deskwire', password: 'a password of your own' }
const guide = readFileSync(new URL('../docs/guides/postgresql.md', import.meta.url), 'utf8')
const [ownDatabase = '', ownSchema = ''] = [...guide.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql)

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-poolers-'))
chmodSync(scratch, 0o711)
const receiver = await startHooks()
const postgres = await createServerIn(join(scratch, 'postgres'), { max_connections: '200' })
await postgres.run('postgres', ...statementsOf(ownDatabase), 'create database shared')
/** Calls of a kind that are compared. */
const rounds = 300

try {
  await trySchema()
  for (const [name, settings] of Object.entries(pgbouncers())) await tryPooler(name, settings)
  await tryTwoDatabases()
  await tryDoctor()
  await tryDeadServer()
  await tryMirror()
  await measureUnnamed()
} finally {
  await receiver[Symbol.asyncDispose]()
  await postgres.stop()
  rmSync(scratch, { recursive: true, force: true })
}

function statementsOf(sql: string): readonly string[] {
  return sql.split(';\n').filter((statement) => statement.trim() !== '')
}

/** The role of a schema, which may do less than the owner of a database, without a pooler. */
async function trySchema(): Promise<void> {
  const other = { ...role, user: 'deskwire_shared' }
  // Roles belong to the server, where the name is taken.
  const sql = ownSchema.replaceAll(/\bdeskwire\b/g, other.user)
  await postgres.run('shared', ...statementsOf(sql))
  const tried = await tryService({ DESKWIRE_DATABASE_URL: postgres.url('shared', other) })
  report(`a schema in a shared database, no pooler: ${tried.line}`, tried.good)
}

interface Setup {
  readonly mode: PoolMode
  readonly settings: Readonly<Record<string, string | number>>
  /** Of the start without a direct URL; null: the service runs. */
  readonly refusal: RegExp | null
  /** The direct URL is tried too. */
  readonly direct: boolean
}

function pgbouncers(): Readonly<Record<string, Setup>> {
  const passed = 'statement_timeout,idle_in_transaction_session_timeout,options,extra_float_digits'
  const lost = /keeps no sessions.*set DESKWIRE_DATABASE_DIRECT_URL/
  return {
    'transaction mode, as Debian configures it': {
      mode: 'transaction',
      settings: {},
      refusal: lost,
      direct: true,
    },
    'transaction mode, startup parameters passed over': {
      mode: 'transaction',
      settings: { ignore_startup_parameters: passed },
      refusal: lost,
      direct: true,
    },
    'transaction mode, five connections, given in turn': {
      mode: 'transaction',
      settings: { default_pool_size: 5, server_round_robin: 1 },
      refusal: lost,
      direct: true,
    },
    'transaction mode, one connection': {
      mode: 'transaction',
      settings: { default_pool_size: 1 },
      refusal: lost,
      direct: false,
    },
    'statement mode': {
      mode: 'statement',
      settings: {},
      refusal: /transaction blocks not allowed.*DESKWIRE_DATABASE_DIRECT_URL/,
      direct: false,
    },
    'session mode, as Debian configures it': {
      mode: 'session',
      settings: { default_pool_size: 60 },
      refusal: null,
      direct: false,
    },
  }
}

async function tryPooler(name: string, { mode, settings, refusal, direct }: Setup): Promise<void> {
  const database = `desk_${randomBytes(4).toString('hex')}`
  await postgres.run('postgres', `create database ${database} owner ${role.user}`)
  const pooler = await startPgBouncer(mode, settings)
  const pooled = pooler.url(database)
  try {
    if (refusal === null) {
      const service = await tryService({ DESKWIRE_DATABASE_URL: pooled })
      report(`${name}: ${service.line}`, service.good)
    } else {
      const said = await refusalOf({ DESKWIRE_DATABASE_URL: pooled })
      report(`${name}, no direct URL: ${said}`, refusal.test(said) && !said.includes('\n'))
    }
    if (!direct) return
    const apart = await tryService({
      DESKWIRE_DATABASE_URL: pooled,
      DESKWIRE_DATABASE_DIRECT_URL: postgres.url(database, role),
    })
    report(`${name}, with a direct URL: ${apart.line}`, apart.good)
  } finally {
    await pooler.stop()
  }
}

/** One API and one worker, each a process of its own. */
async function tryService(
  database: Readonly<Record<string, string>>,
): Promise<{ line: string; good: boolean }> {
  const key = newToken()
  const environment = {
    ...database,
    DESKWIRE_BOOTSTRAP_KEY: key,
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
    DESKWIRE_TARGET_CA: receiver.ca,
    DESKWIRE_LOG_LEVEL: 'error',
  }
  const running: ServiceProcess[] = []
  try {
    for (const flags of [
      ['--role', 'api'],
      ['--role', 'worker'],
    ])
      running.push(await serve(flags, { settings: environment }))
    const result = await tryOut(running[0]?.url ?? '', { apiKey: key, receiver })
    const connections = await directConnections(database)
    const errors = running.flatMap(logged)
    for (const line of errors) console.error(line)
    return {
      line: `${result.line}; ${errors.length} errors in the log${connections === null ? '' : `; ${connections} connections past the pooler`}`,
      good: result.good && errors.length === 0,
    }
  } finally {
    await Promise.all(running.map((service) => service.end('SIGTERM')))
  }
}

/** Deskwire's connections that do not go through PgBouncer. */
async function directConnections({
  DESKWIRE_DATABASE_DIRECT_URL: url,
}: Readonly<Record<string, string>>): Promise<number | null> {
  if (url === undefined) return null
  const client = new Client({ connectionString: postgres.url(new URL(url).pathname.slice(1)) })
  await client.connect()
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name = 'deskwire listener'`,
  )
  await client.end()
  return rows[0]?.count ?? 0
}

/** The error of a start that fails. */
async function refusalOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const key = { DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'), DESKWIRE_LOG_LEVEL: 'error' }
  const started = serve([], { settings: { ...key, ...environment } })
  return started.then(
    async (service) => {
      await service.end('SIGTERM')
      return 'it started'
    },
    (error: Error) => error.message,
  )
}

async function tryTwoDatabases(): Promise<void> {
  await postgres.run(
    'postgres',
    `create database one owner ${role.user}`,
    `create database two owner ${role.user}`,
  )
  const pooler = await startPgBouncer('transaction', {})
  try {
    const said = await refusalOf({
      DESKWIRE_DATABASE_URL: pooler.url('one'),
      DESKWIRE_DATABASE_DIRECT_URL: postgres.url('two', role),
    })
    report(`a direct URL of another database: ${said}`, /lead to two databases/.test(said))
    const both = await refusalOf({
      DESKWIRE_DATABASE_URL: pooler.url('one'),
      DESKWIRE_DATABASE_DIRECT_URL: pooler.url('one'),
    })
    report(`a direct URL of the pooler: ${both}`, /DIRECT_URL leads to a pooler/.test(both))
  } finally {
    await pooler.stop()
  }
  const statements = await startPgBouncer('statement', {})
  try {
    const said = await refusalOf({
      DESKWIRE_DATABASE_URL: statements.url('one'),
      DESKWIRE_DATABASE_DIRECT_URL: postgres.url('one', role),
    })
    report(`statement mode, with a direct URL: ${said}`, /pool mode to transaction/.test(said))
  } finally {
    await statements.stop()
  }
}

/** The doctor's line of the pooler, for a sound one and another. */
async function tryDoctor(): Promise<void> {
  await postgres.run('postgres', `create database examined owner ${role.user}`)
  const direct = { DESKWIRE_DATABASE_DIRECT_URL: postgres.url('examined', role) }
  for (const { name, mode, settings, more, passes } of [
    {
      name: 'transaction mode',
      mode: 'transaction',
      settings: {},
      more: {},
      passes: /^failed: .*keeps no sessions/,
    },
    {
      name: 'transaction mode, with a direct URL',
      mode: 'transaction',
      settings: {},
      more: direct,
      passes: /^ok: /,
    },
    {
      name: 'session mode',
      mode: 'session',
      settings: pgbouncers()['session mode, as Debian configures it']?.settings ?? {},
      more: {},
      passes: /^ok: /,
    },
  ] as const) {
    const pooler = await startPgBouncer(mode, settings)
    try {
      const said = await findingOf('pooler', { DESKWIRE_DATABASE_URL: pooler.url('examined'), ...more })
      report(`deskwire doctor, ${name}: ${said}`, passes.test(said))
    } finally {
      await pooler.stop()
    }
  }
}

async function findingOf(check: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const key = { DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
  const { stdout } = await deskwire(['doctor', '--json'], { settings: { ...key, ...environment } })
  const { findings } = JSON.parse(stdout) as {
    findings: { check: string; verdict: string; found: string; advice: string | null }[]
  }
  const found = findings.find((one) => one.check === check)
  return found === undefined
    ? 'it says nothing'
    : `${found.verdict}: ${found.found}${found.advice === null ? '' : `; ${found.advice}`}`
}

/**
 * The pooler still answers when its PostgreSQL has stopped: what clients and the doctor see, and whether the service
 * recovers.
 */
async function tryDeadServer(): Promise<void> {
  const directory = join(scratch, 'dying')
  const server = await createServerIn(directory)
  await server.run('postgres', ...statementsOf(ownDatabase))
  const pooler = await startPgBouncer('transaction', { server_login_retry: 1 }, server.port)
  const key = newToken()
  const environment = {
    DESKWIRE_DATABASE_URL: pooler.url(role.user),
    DESKWIRE_DATABASE_DIRECT_URL: server.url(role.user, role),
    DESKWIRE_BOOTSTRAP_KEY: key,
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DESKWIRE_LOG_LEVEL: 'silent',
  }
  const service = await serve(['--role', 'api'], { settings: environment })
  let stop = server.stop
  const create = async () => {
    const answer = await fetch(`${service.url}/v1/customers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Ada"}',
    })
    const { detail = '' } = (await answer.json()) as { detail?: string }
    return `${answer.status} ${detail}`
  }
  try {
    await create()
    await stop()
    // The first request may use a connection that ends with the server.
    await create()
    const answers = [await create(), await create()]
    report(
      `PostgreSQL stopped behind PgBouncer: ${[...new Set(answers)].join(', ')}`,
      answers.every((answer) => /^503 .*nothing was changed/.test(answer)),
    )
    const said = await findingOf('database', { ...environment, DESKWIRE_DATABASE_DIRECT_URL: '' })
    report(
      `and deskwire doctor, no direct URL: ${said}`,
      /^failed: .*no connection to its PostgreSQL/.test(said) && !/pool mode/.test(said),
    )
    stop = (await startServer(directory, { port: String(server.port) })).stop
    let again = await create()
    for (let tries = 0; tries < 100 && !again.startsWith('201'); tries++) {
      await delay(200)
      again = await create()
    }
    report(`and started again: ${again}`, again.startsWith('201'))
  } finally {
    await service.end('SIGTERM')
    await pooler.stop()
    await stop()
  }
}

/** A copy behind the pooler: it is exact, and sessions that other programs get from the pool are as they were. */
async function tryMirror(): Promise<void> {
  const [database, key] = [`copy_${randomBytes(4).toString('hex')}`, newToken()]
  await postgres.run('postgres', `create database ${database} owner ${role.user}`)
  const service = await serve(['--role', 'api'], {
    settings: {
      DESKWIRE_DATABASE_URL: postgres.url(role.user, role),
      DESKWIRE_BOOTSTRAP_KEY: key,
      DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      DESKWIRE_LOG_LEVEL: 'error',
    },
  })
  const pooler = await startPgBouncer('transaction', { default_pool_size: 3, server_round_robin: 1 })
  const statements = await startPgBouncer('statement', {})
  const mirror = (command: string, place: Pooler) =>
    deskwire([
      'mirror',
      ...command.split(' '),
      '--to',
      place.url(database),
      '--url',
      service.url,
      '--key',
      key,
    ])
  const create = () =>
    fetch(`${service.url}/v1/customers/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ items: Array.from({ length: 500 }, (_, n) => ({ name: `Customer ${n}` })) }),
    })
  try {
    await create()
    const first = await mirror('run --once', pooler)
    await create()
    const second = await mirror('run --once', pooler)
    const verified = await mirror('verify', pooler)
    report(
      `a mirror through PgBouncer in transaction mode: ${verified.stdout.trim()}`,
      [first, second, verified].every(({ code, stderr }) => code === 0 && stderr === ''),
    )
    const clients = Array.from({ length: 3 }, () => new Client({ connectionString: pooler.url(database) }))
    for (const client of clients) await client.connect()
    const left = new Set<string>()
    for (const client of clients) {
      // Held, so that each has a session of its own.
      await client.query('begin')
      const { rows } = await client.query<{ name: string }>(
        "select name from pg_settings where source = 'session' union all select name from pg_prepared_statements",
      )
      for (const { name } of rows) left.add(name)
    }
    for (const client of clients) await client.end()
    report(`what it left in sessions of the pool: ${[...left].join(', ') || 'nothing'}`, left.size === 0)
    const refused = await mirror('run --once', statements)
    report(
      `a mirror through PgBouncer in statement mode: ${refused.stderr.trim()}`,
      refused.code === 1 && /pool_mode to transaction or session/.test(refused.stderr),
    )
  } finally {
    await service.end('SIGTERM')
    await pooler.stop()
    await statements.stop()
  }
}

/** The cost of not relying on sessions: two services on one database, in turn, one of which names its statements. */
async function measureUnnamed(): Promise<void> {
  await postgres.run('postgres', `create database compared owner ${role.user}`)
  const pooler = await startPgBouncer('transaction', {})
  const direct = postgres.url('compared', role)
  const key = newToken()
  const environment = {
    DESKWIRE_BOOTSTRAP_KEY: key,
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DESKWIRE_RATE_LIMIT: '0',
    DESKWIRE_LOG_LEVEL: 'error',
  }
  const databases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'named statements': { DESKWIRE_DATABASE_URL: direct },
    'unnamed, no pooler': { DESKWIRE_DATABASE_URL: direct, DESKWIRE_DATABASE_DIRECT_URL: direct },
    'unnamed, through PgBouncer': {
      DESKWIRE_DATABASE_URL: pooler.url('compared'),
      DESKWIRE_DATABASE_DIRECT_URL: direct,
    },
  }
  const services: { readonly name: string; readonly service: ServiceProcess }[] = []
  try {
    for (const [name, database] of Object.entries(databases))
      services.push({
        name,
        service: await serve(['--role', 'api'], { settings: { ...environment, ...database } }),
      })
    const calls: Readonly<Record<string, (url: string, n: number) => Promise<Response>>> = {
      'a creation': (url, n) =>
        fetch(`${url}/v1/customers`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: `Customer ${n}` }),
        }),
      'a page of 50': (url) =>
        fetch(`${url}/v1/customers?limit=50`, { headers: { authorization: `Bearer ${key}` } }),
      'a page of changes': (url) =>
        fetch(`${url}/v1/changes?updatedAfter=1970-01-01T00:00:00.000Z&limit=50`, {
          headers: { authorization: `Bearer ${key}` },
        }),
    }
    for (const [call, ask] of Object.entries(calls)) {
      const took = new Map<string, number[]>(services.map(({ name }) => [name, []]))
      for (let n = 0; n < rounds; n++) {
        for (const { name, service } of services) {
          const since = performance.now()
          const answer = await ask(service.url, n)
          await answer.text()
          if (!answer.ok) throw new Error(`${call}: ${answer.status}`)
          // The first ones warm up.
          if (n >= rounds / 5) took.get(name)?.push(performance.now() - since)
        }
      }
      const medians = [...took].map(([name, times]) => `${name} ${medianOf(times).toFixed(2)} ms`)
      report(
        `${call}, the median of ${(rounds * 4) / 5}, one at a time and in turn: ${medians.join(', ')}`,
        true,
      )
    }
  } finally {
    await Promise.all(services.map(({ service }) => service.end('SIGTERM')))
    await pooler.stop()
  }
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

interface Pooler {
  url(database: string): string
  stop(): Promise<void>
}

async function startPgBouncer(
  mode: PoolMode,
  settings: Setup['settings'],
  server = postgres.port,
): Promise<Pooler> {
  const directory = makeDirectory(join(scratch, `pgbouncer-${randomBytes(4).toString('hex')}`))
  const port = await freePort()
  const file = (name: string, content: string) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    chownSync(path, account().uid, account().gid)
    return path
  }
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: file('users.txt', `"${role.user}" "${role.password}"\n`),
    pool_mode: mode,
    ...settings,
  }
  const ini = file(
    'pgbouncer.ini',
    `[databases]\n* = host=127.0.0.1 port=${server}\n[pgbouncer]\n${Object.entries(all)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  )
  const child = spawn('pgbouncer', ['--quiet', ini], { ...account(), cwd: '/', stdio: 'ignore' })
  await untilListening(port)
  return {
    url: (database) =>
      `postgres://${role.user}:${encodeURIComponent(role.password)}@127.0.0.1:${port}/${database}`,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'close')
    },
  }
}
