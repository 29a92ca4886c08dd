/**
 * `npm run check -- majors`: an embedded database of another major version of PostgreSQL is brought to this one's as the refusal of a
 * start says, and nothing is missing. The directory of the other version is made by the programs of the machine's own PostgreSQL; as root
 * it runs them as `nobody`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient } from '../packages/sdk/src/index.ts'
import { newToken } from '../packages/service/src/auth/token.ts'
import { faultOf, startHooks } from '../packages/testbed/arrivals.ts'
import { eventually } from '../packages/testbed/eventually.ts'
import { type Follower, follow } from '../packages/testbed/follower.ts'
import { httpReader } from '../packages/testbed/http-follower.ts'
import { createServices, type Environment, socketUrl } from '../packages/testbed/services.ts'
import { postgresPrograms } from './deploy/postgres-server.ts'
import { report } from './report.ts'

const customers = 2_000
const followed = ['customers', 'tickets'] as const
const token = newToken()

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-majors-'))
const dataDir = join(scratch, 'data')
const file = join(scratch, 'desk.backup')
const old = oldServer(postgresPrograms(), join(scratch, 'old'))
try {
  await using hooks = await startHooks()
  await using services = createServices()
  const common = {
    ...hooks.settings,
    DESKWIRE_BOOTSTRAP_KEY: token,
    DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DESKWIRE_LOG_LEVEL: 'error',
  }
  const there: Environment = { ...common, DESKWIRE_DATABASE_URL: old.url }
  const here: Environment = { ...common, DESKWIRE_DATA_DIR: dataDir }
  const run = async (words: readonly string[], environment: Environment) => {
    const { code, stderr } = await services.start(words, environment).ended
    return { code, said: stderr }
  }

  await old.start()
  const before = await services.serve([], there)
  const hook = await hooks.register({ url: before.url, token }, 'one', ['customer.created'])
  await fill(before.url)
  await eventually('all deliveries have arrived', () => hooks.arrivals.length >= customers)
  const copies = await copiesOf(before.url)
  await before.end('SIGTERM')
  const backup = await run(['backup', 'create', file], there)
  report(`deskwire backup create on PostgreSQL ${old.version}`, backup.code === 0)
  await old.stop()

  mkdirSync(dataDir, { mode: 0o700 })
  renameSync(old.directory, join(dataDir, 'postgres'))
  // Deskwire recognizes its own directory by it.
  writeFileSync(join(dataDir, 'hold.lock'), '')
  const refused = await run(['serve', '--port', '0'], here)
  const line = refused.said.replaceAll(dataDir, 'DATA').trim()
  const advised = / (restore) FILE (--replace)/.exec(line)?.slice(1) ?? []
  report(`a start on it: ${line}`, refused.code === 1 && !line.includes('\n') && advised.length === 2)
  const restored = await run(['backup', advised[0] ?? '', file, advised[1] ?? ''], here)
  report(`deskwire backup restore FILE --replace${restored.said.trim()}`, restored.code === 0)
  const aside = readdirSync(dataDir).find((name) => name.startsWith('before-restore-')) ?? ''
  report(
    `data/before-restore-TIME is of PostgreSQL ${versionOf(join(dataDir, aside))}, data/postgres of ${versionOf(join(dataDir, 'postgres'))}`,
    versionOf(join(dataDir, aside)) === old.major,
  )

  const after = await services.serve([], here)
  const again = await copiesOf(after.url)
  for (const [n, kind] of followed.entries()) {
    const [was, is] = [copies[n] as Follower, again[n] as Follower]
    const alike =
      was.copy.size === is.copy.size && [...was.copy].every(([id, body]) => is.copy.get(id) === body)
    report(
      `${is.copy.size} ${kind}, byte for byte as before, and the checkpoint is that of the copy`,
      alike && was.faults.length + is.faults.length === 0,
    )
  }
  const earlier = hooks.arrivals.length
  await createClient({ baseUrl: `${after.url}/v1`, apiKey: token }).customers.create({ name: 'Afterwards' })
  await eventually('its delivery has arrived', () => hooks.arrivals.length > earlier)
  const fresh = hooks.arrivals.slice(earlier)
  const faults = await Promise.all(fresh.map((arrival) => faultOf(arrival, hook)))
  report(
    'a customer made afterwards is delivered, signed with the secret from before',
    faults.every((fault) => fault === null),
  )
  await after.end('SIGTERM')
} finally {
  await old.stop()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

async function fill(url: string): Promise<void> {
  const client = createClient({ baseUrl: `${url}/v1`, apiKey: token })
  const ids: string[] = []
  while (ids.length < customers) {
    const items = Array.from({ length: 500 }, (_, n) => ({ name: `Ädä ${ids.length + n} ☎`, tags: ['vip'] }))
    const { data } = await client.customers.batch(items)
    ids.push(...data.map((row) => ('id' in row ? row.id : '')))
  }
  for (const customerId of ids.slice(0, 50)) await client.tickets.create({ subject: 'Help', customerId })
  for (const id of ids.slice(-20)) await client.customers.delete(id)
}

/** By a first sync. */
async function copiesOf(url: string): Promise<readonly Follower[]> {
  return Promise.all(
    followed.map(async (kind) => {
      const follower = follow(httpReader({ url: () => url, token, kind, limit: 100 }))
      await follower.drain()
      return follower
    }),
  )
}

function versionOf(cluster: string): string {
  return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
}

/** A cluster of these programs, and its server on a socket. */
function oldServer(programs: string, directory: string) {
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const options = { ...account, cwd: directory, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
  const version = execFileSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' })
    .replace(/^\D+/, '')
    .trim()
  const sockets = mkdtempSync('/tmp/dw-')
  const connection = { host: sockets, port: 5432, user: 'postgres', database: 'postgres' }
  let server: ChildProcess | null = null
  return {
    directory,
    version,
    major: version.split('.')[0] as string,
    url: socketUrl(connection),
    async start(): Promise<void> {
      mkdirSync(directory, { mode: 0o700 })
      if (account.uid !== undefined) {
        for (const path of [directory, sockets]) chownSync(path, account.uid, account.gid)
        chmodSync(dirname(directory), 0o711)
      }
      execFileSync(
        join(programs, 'initdb'),
        ['-D', directory, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
        { ...options, stdio: 'ignore' },
      )
      server = spawn(
        join(programs, 'postgres'),
        ['-D', directory, '-k', sockets, '-c', 'listen_addresses=', '-c', 'fsync=off'],
        { ...options, stdio: 'ignore' },
      )
      await eventually('the old server answers', () => {
        try {
          execFileSync(join(programs, 'pg_isready'), ['-h', sockets], { stdio: 'ignore' })
          return true
        } catch {
          return false
        }
      })
    },
    async stop(): Promise<void> {
      const ending = server
      server = null
      if (ending !== null) {
        const closed = new Promise((resolve) => ending.once('close', resolve))
        ending.kill('SIGINT')
        await closed
      }
      rmSync(sockets, { recursive: true, force: true })
    },
  }
}
