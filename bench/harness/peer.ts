/** The peers of bench/peers as child processes, and the Redis of one of them. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startProgram } from '../../packages/testbed/program.ts'
import { standingUntil } from './installation.ts'

/** Disposing it ends it, and waits for the end. */
interface RunningPeer extends AsyncDisposable {
  /** The first group of `ready`. */
  readonly said: string
}

const directory = fileURLToPath(new URL('../peers', import.meta.url))

/** By their own lock file, once. Rejects when npm fails. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(directory, 'node_modules', '.package-lock.json'))) return
  await promisify(execFile)('npm', ['ci'], { cwd: directory })
}

/** Starts one role of a peer. */
export function startPeer(file: string, args: readonly string[]): Promise<RunningPeer> {
  return start(process.execPath, [join(directory, file), ...args], /^(?:listening on |delivering)(\S*)/m)
}

/** Acknowledges only what is on disk. Rejects where redis-server is not installed. */
export async function startRedis(home: string): Promise<RunningPeer & { readonly socket: string }> {
  const socket = join(home, 'redis.sock')
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: home,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const redis = await start('redis-server', args, /eady to accept connections()/)
  return { ...redis, socket }
}

/** Starts a program and waits for the line that says it is ready. */
async function start(command: string, args: readonly string[], printed: RegExp): Promise<RunningPeer> {
  const env = { ...process.env, NODE_ENV: 'production' }
  const program = startProgram(command, args, { env, shown: true })
  // Ends with an interrupted run.
  const stop = standingUntil(async () => program[Symbol.asyncDispose]())
  const [, said = ''] = await program.prints(printed)
  return { said, [Symbol.asyncDispose]: stop }
}
