/** A PostgreSQL as an operator has one, with passwords and TCP, for scripts that need root or poolers. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from '../../packages/testbed/loopback.ts'

/** The server's superuser. */
export const owner = { user: 'postgres', password: 'owner' } as const

export interface PostgresServer {
  readonly port: number
  readonly directory: string
  /** Of a database, for its owner or another role. */
  url(database: string, role?: { readonly user: string; readonly password: string }): string
  /** Runs statements as the superuser. */
  run(database: string, ...statements: readonly string[]): Promise<void>
  /** `SIGINT`: a fast shutdown; `SIGQUIT`: an immediate one. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** The user that may run PostgreSQL and PgBouncer: this one or, for root, the system's. */
export function account(): { uid: number; gid: number } {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  const of = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: of('-u'), gid: of('-g') }
}

/** Writable by that user. */
export function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { uid, gid } = account()
  chownSync(path, uid, gid)
  return path
}

/** The newest PostgreSQL of Debian that is installed, or the one in PG_BIN. */
export function postgresPrograms(): string {
  if (process.env.PG_BIN !== undefined) return process.env.PG_BIN
  const base = '/usr/lib/postgresql'
  const [newest] = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : []
  if (newest === undefined) throw new Error('install postgresql, or name its programs in PG_BIN')
  return join(base, newest, 'bin')
}

/** Runs a program of PostgreSQL to its end. */
export async function runProgram(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  const child = spawn(join(postgresPrograms(), name), args, {
    ...account(),
    env: { ...process.env, ...env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'inherit'],
    cwd: '/',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
}

/** Creates a cluster in the directory, which must not exist, and starts it. */
export async function createServerIn(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const secret = `${makeDirectory(`${directory}.secret`)}/password`
  writeFileSync(secret, owner.password)
  chownSync(secret, account().uid, account().gid)
  await runProgram('initdb', [
    ...['-D', makeDirectory(directory), '-U', owner.user, '--pwfile', secret, '--encoding=UTF8'],
    ...['--auth-local=scram-sha-256', '--auth-host=scram-sha-256', '--locale=C'],
  ])
  return startServer(directory, settings)
}

/** By default on a free port of the loopback. */
export async function startServer(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const port = settings.port === undefined ? await freePort() : Number(settings.port)
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port), ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(join(postgresPrograms(), 'postgres'), ['-D', directory, ...flags], {
    ...account(),
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', process.env.POSTGRES_LOG === undefined ? 'ignore' : 'inherit'],
  })
  const ended = once(child, 'close')
  const url = (database: string, { user, password }: { user: string; password: string } = owner) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
  const run = async (database: string, ...statements: readonly string[]) => {
    const client = new Client({ connectionString: url(database) })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await untilReady(url('postgres'), () => child.exitCode !== null)
  return {
    port,
    directory,
    url,
    run,
    async stop(signal = 'SIGINT') {
      child.kill(signal)
      await ended
    },
  }
}

async function untilReady(url: string, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    if (hasEnded()) throw new Error('PostgreSQL ended as it started: POSTGRES_LOG=1 shows why')
    const client = new Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch {
      await delay(50)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
