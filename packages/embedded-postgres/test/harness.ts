// Runs the fixtures as real processes, under the accounts this machine allows, and checks that nothing outlives
// a test. Run by root, each case runs for root and for an ordinary user; run by an ordinary user, for that one.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { closedTo } from '../src/account.ts'
import { commandOf, processesOf } from '../src/processes.ts'

/** An account that runs a fixture. */
export interface Identity {
  readonly name: string
  /** Null: this process's own. */
  readonly ids: { readonly uid: number; readonly gid: number } | null
}

/** What a fixture printed. */
type Event = Record<string, unknown> & { readonly event: string }

/** A fixture that runs. */
export interface Fixture {
  readonly pid: number
  readonly events: Event[]
  /** The first event of this kind, now or to come. @throws when the fixture ends without one. */
  event(kind: string): Promise<Event>
  /** Tells it to stop, and waits until it did and has ended. */
  stop(): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
  /** Its exit status. */
  readonly ended: Promise<number | null>
}

export const isRoot = process.getuid?.() === 0
const own: Identity = { name: isRoot ? 'root' : 'an ordinary user', ids: null }
export const ordinary: Identity = isRoot ? { name: 'an ordinary user', ids: await nobody() } : own
export const identities: readonly Identity[] = isRoot ? [own, ordinary] : [own]
export const root = own

const repository = resolve(import.meta.dirname, '../../..')
const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`

let base = ''
let shared = ''
let node = process.execPath
const children = new Set<ChildProcess>()
const dataDirs = new Set<string>()
const templates = new Map<Identity, string>()
let count = 0

/** Declares the set-up and the checks for one test file. */
export function useHarness(): void {
  beforeAll(async () => {
    // The ordinary user of a test has to get there.
    base = await mkdtemp(join(tmpdir(), 'embedded-'))
    await chmod(base, 0o755)
    shared = join(base, 'project')
    await makePristine(join(base, 'pristine'))
    await copyProject(shared)
    if (ordinary.ids && (await closedTo(node, ordinary.ids)) !== null) {
      node = join(base, 'node')
      await cp(process.execPath, node)
      await chmod(node, 0o755)
    }
  })
  afterEach(async () => {
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    const left: string[] = []
    for (const dataDir of dataDirs)
      for (const directory of await clusters(dataDir))
        for (const pid of await processesOf(directory)) {
          left.push(`${directory}: ${pid}`)
          process.kill(pid, 'SIGKILL')
        }
    dataDirs.clear()
    children.clear()
    expect(left, 'servers that outlive their test').toEqual([])
  })
  afterAll(async () => {
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    // The next file of this process makes its own.
    templates.clear()
    node = process.execPath
  })
}

/** A new directory that belongs to an identity, with this mode. */
export async function newDirectory(identity: Identity, mode = 0o700): Promise<string> {
  const path = join(base, `d${++count}`)
  await mkdir(path)
  await chmod(path, mode)
  if (identity.ids) await chown(path, identity.ids.uid, identity.ids.gid)
  return path
}

/** A data directory that does not exist yet, in a directory of the identity's. */
export async function emptyDataDir(identity: Identity): Promise<string> {
  return join(await newDirectory(identity), 'data')
}

/** A data directory with a fresh cluster in it: a copy of one that the launcher made, which is quicker. */
export async function newDataDir(identity: Identity): Promise<string> {
  let template = templates.get(identity)
  if (template === undefined) {
    template = await emptyDataDir(identity)
    const service = startService(identity, template)
    await service.event('ready')
    await service.stop()
    templates.set(identity, template)
  }
  const dataDir = await emptyDataDir(identity)
  await tool('cp', '-Rp', template, dataDir)
  return dataDir
}

/** The parts of the project that the fixtures need, in a directory of their own, as `npm ci` leaves them. */
export async function copyProject(to: string): Promise<void> {
  await tool('cp', '-Rp', join(base, 'pristine'), to)
}

/** Where a copied project has its PostgreSQL. */
export function packageIn(project: string): string {
  return join(project, 'node_modules', platformPackage)
}

/** Starts a program that embeds the server: a service, perhaps. */
export function startService(
  identity: Identity,
  dataDir: string,
  options: { flags?: string[]; project?: string; group?: boolean } = {},
): Fixture {
  return run(identity, dataDir, 'service.fixture.ts', options.flags ?? [], options.project, options.group)
}

/** Starts the program that inserts until it cannot. */
export function startInserting(identity: Identity, dataDir: string): Fixture {
  return run(identity, dataDir, 'client.fixture.ts', ['insert', 'example'])
}

/** Starts statements and does not wait. */
export function startQuery(identity: Identity, dataDir: string, sql: string[], user = 'example'): Fixture {
  return run(identity, dataDir, 'client.fixture.ts', ['query', user, ...sql])
}

/** Runs statements; the rows of the last. @throws what the client said when it failed. */
export async function query(
  identity: Identity,
  dataDir: string,
  sql: string | string[],
  user = 'example',
): Promise<Record<string, unknown>[]> {
  const client = startQuery(identity, dataDir, [sql].flat(), user)
  await client.ended
  const last = client.events.at(-1)
  if (last?.event !== 'rows') throw new Error(JSON.stringify(last))
  return last.rows as Record<string, unknown>[]
}

/** The number of the last acknowledged insert. */
export function lastAcknowledged(inserting: Fixture): number {
  return Number(inserting.events.findLast(({ event }) => event === 'acknowledged')?.n ?? 0)
}

/** The process id of the server on a data directory, from its own file. */
export async function serverPid(dataDir: string): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** The command line of a process. */
export async function commandLine(pid: number): Promise<string> {
  return (await commandOf(pid)) ?? ''
}

/** Gives a copied project to an identity, or makes it one that no ordinary user may change. */
export async function setWritable(path: string, who: Identity | null): Promise<void> {
  if (isRoot) await tool('chown', '-R', `${who?.ids?.uid ?? 0}:${who?.ids?.gid ?? 0}`, path)
  else await tool('chmod', '-R', who ? 'u+w' : 'a-w', path)
}

/** A process of an account's that does nothing, or did; gone with the test. */
export async function bystander(
  ids: { uid: number; gid: number },
  kind: 'alive' | 'ended but not reaped',
): Promise<number> {
  const account = isRoot ? { uid: ids.uid, gid: ids.gid } : {}
  // A program that never asks after its children keeps one that ended in the process table.
  const script = kind === 'alive' ? 'echo $$; exec sleep 120' : 'sleep 0 & echo $!; exec sleep 120'
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], ...account })
  children.add(child)
  const pid = Number((await once(child.stdout!, 'data')).join('').trim())
  const wanted = kind === 'alive' ? 'sleep 120' : ''
  await eventually('it is so', async () => (await commandLine(pid)) === wanted)
  return pid
}

function run(
  identity: Identity,
  dataDir: string,
  program: string,
  args: string[],
  project = shared,
  group = false,
): Fixture {
  dataDirs.add(dataDir)
  const script = join(project, 'packages/embedded-postgres/test', program)
  const child = spawn(node, [script, dataDir, ...args], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: group,
    ...identity.ids,
  })
  children.add(child)
  const events: Event[] = []
  const lines = createInterface(child.stdout!)
  lines.on('line', (line) => events.push(JSON.parse(line) as Event))
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(
    ([[code]]) => code as number | null,
  )
  child.stdin!.on('error', () => {}) // it may have been killed
  const find = (kind: string) => events.find(({ event }) => event === kind)
  const event = async (kind: string) => {
    while (!find(kind))
      if (await Promise.race([once(lines, 'line').then(() => false), ended.then(() => true)])) break
    const found = find(kind)
    if (!found) throw new Error(`no '${kind}' from ${program}: ${JSON.stringify(events)}`)
    return found
  }
  return {
    pid: child.pid!,
    events,
    event,
    stop: async () => {
      child.stdin!.write('stop\n')
      await event('stopped')
      expect(await ended).toBe(0)
    },
    kill: async (signal) => {
      child.kill(signal)
      await ended
    },
    ended,
  }
}

async function clusters(dataDir: string): Promise<string[]> {
  const names = await readdir(dataDir).catch(() => [])
  return names
    .filter((name) => name.startsWith('postgres') && !name.endsWith('.log'))
    .map((name) => join(dataDir, name))
}

async function makePristine(to: string): Promise<void> {
  const wanted = (await readdir(join(repository, 'node_modules'))).filter((name) =>
    /^(pg|pg-.*|pgpass|postgres-.*|split2|xtend)$/.test(name),
  )
  const parts = [
    ...['package.json', 'src', 'test'].map((name) => `packages/embedded-postgres/${name}`),
    ...[...wanted, platformPackage].map((name) => `node_modules/${name}`),
  ]
  for (const part of parts) {
    await mkdir(dirname(join(to, part)), { recursive: true })
    await tool('cp', '-Rp', join(repository, part), join(to, part))
  }
  // The state in which a package arrives whose install script did not run.
  await tool('find', to, '-type', 'l', '-exec', 'rm', '{}', '+')
  await tool('chmod', '-R', 'u+w,a+rX', to)
  if (isRoot) await tool('chown', '-R', '0:0', to)
}

async function tool(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args)
}

async function nobody(): Promise<{ uid: number; gid: number }> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((one) => one.startsWith('nobody:'))
  const [, , uid, gid] = line!.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
