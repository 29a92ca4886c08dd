// Runs PostgreSQL's programs as the server's account, in the cluster's directory. If that account may not enter a
// parent directory (such as /root), the child changes into the cluster while it is still root, and then uses
// /proc/self/cwd as the data directory: this link needs no walk through the parents. So the data stays where the
// operator put it, and nothing else in the data directory is open to the server's account.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Accounts, closedTo } from './account.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { NamedHost, Words } from './host.ts'

/**
 * Bytes. Keeps a statement's memory for the next one: returning it took a fifth of the processor time for a page of
 * 45 KB.
 */
const keptMemory = { MALLOC_TRIM_THRESHOLD_: '16777216', MALLOC_MMAP_THRESHOLD_: '4194304' }

/** Removes libpq's variables (PGSSLMODE, PGOPTIONS, …) from the environment: they are for another server. */
export function forgetServerVariables(): void {
  for (const name of Object.keys(process.env)) if (/^PG[A-Z_]+$/.test(name)) delete process.env[name]
}

/** The name of a cluster that is the working directory. */
export function workingDirectory(cluster: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : cluster
}

/** Starts a program in the cluster. @throws EmbeddedDatabaseError when it cannot be run. */
export async function startProgram(
  program: string,
  args: readonly string[],
  options: { cwd: string; accounts: Accounts; host: NamedHost } & Pick<SpawnOptions, 'stdio' | 'detached'>,
): Promise<ChildProcess> {
  const { accounts, host, ...rest } = options
  try {
    const child = spawn(program, args, {
      ...rest,
      // Nothing of the host's environment: PGOPTIONS and the like would change the server.
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...keptMemory },
      ...(accounts.switches ? { uid: accounts.server.uid, gid: accounts.server.gid } : {}),
    })
    await once(child, 'spawn')
    return child
  } catch (error) {
    // Some errors are thrown and others are events.
    throw await explain(program, error, accounts, host.words)
  }
}

/**
 * Runs a program to its end. @throws EmbeddedDatabaseError with its first complaint when it fails, as others follow
 * from that.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { cwd: string; accounts: Accounts; host: NamedHost; input: string },
): Promise<void> {
  const { input, ...rest } = options
  const child = await startProgram(program, args, { ...rest, stdio: 'pipe' })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-16_384)
  }
  child.stdout!.on('data', keep)
  child.stderr!.on('data', keep)
  child.stdin!.on('error', () => {}) // it may end without reading; its status says so
  child.stdin!.end(input)
  const how = await new Promise<string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `status ${code}`)))
  })
  if (how === null) return
  const cause =
    output.split('\n').find((line) => /\b(FATAL|PANIC|ERROR|error):/.test(line)) ?? lastComplaint(output)
  throw new EmbeddedDatabaseError(
    `the cluster could not be created in ${options.cwd} (${program} ended with ${how}: ${cause ?? 'no message'}): ${remedyFor(cause ?? '') ?? 'remove the cause'} and start again`,
  )
}

const moreProcesses = 'raise the limit of processes (ulimit -u, pids.max) or memory'

/** What to do about limits of the system that complaints of PostgreSQL or errors of Node speak of. */
const remedies: readonly (readonly [complaint: RegExp, remedy: string])[] = [
  [/shared memory segment .*No space left/, 'enlarge /dev/shm to 64 MB (docker run --shm-size=64m)'],
  [/No space left on device/, 'free space on the disk'],
  [/could not (fork|execute command)|Resource temporarily|EAGAIN|ENOMEM/, moreProcesses],
  [/file descriptors|open files|EMFILE|ENFILE/, 'raise the limit of open files (ulimit -n)'],
  [/Cannot allocate memory|out of memory/, 'raise the limit of memory (ulimit -v)'],
]

/** The remedy that a complaint calls for, as an instruction; null: unknown. */
export function remedyFor(complaint: string): string | null {
  return remedies.find(([pattern]) => pattern.test(complaint))?.[1] ?? null
}

/** The last line of a program's output that says what went wrong. */
export function lastComplaint(output: string): string | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return (
    lines.findLast((line) => /\b(FATAL|PANIC|ERROR|error):|cannot|could not/.test(line)) ??
    lines.at(-1) ??
    null
  )
}

async function explain(
  program: string,
  error: unknown,
  { server, switches }: Accounts,
  words: Words,
): Promise<unknown> {
  if (!(error instanceof Error)) return error
  const say = (text: string) => new EmbeddedDatabaseError(`${text}, or ${words.ownServer}`)
  if (hasCode(error, 'EPERM'))
    return say(
      `this root may not become another user, and PostgreSQL refuses to run as root: start ${words.program} as an ordinary user`,
    )
  if (hasCode(error, 'EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'))
    return say(
      `PostgreSQL cannot start, as the system allows no further ${hasCode(error, 'EMFILE', 'ENFILE') ? 'file' : 'process'} (${error.message}): ${remedyFor(error.message)}`,
    )
  if (!hasCode(error, 'ENOENT', 'EACCES')) return error
  const cannotRun = `${program} cannot be run (${error.message})`
  if (hasCode(error, 'ENOENT')) return say(`${cannotRun}: it needs glibc`)
  const closed = switches ? await closedTo(program, server) : null
  return say(closed ?? `${cannotRun}: it needs a file system that is not mounted noexec`)
}
