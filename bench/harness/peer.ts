/** The peers of bench/peers as child processes, and the Redis that one of them needs. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Something that runs beside the benchmark; disposing it ends it and waits for its end. */
interface RunningPeer extends AsyncDisposable {
  /** What the first group of `ready` matched. */
  readonly said: string
}

const directory = fileURLToPath(new URL('../peers', import.meta.url))

/** Installs the peers' packages by their own lock file, once. Rejects when npm cannot. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(directory, 'node_modules', '.package-lock.json'))) return
  await promisify(execFile)('npm', ['ci'], { cwd: directory })
}

/** Starts one role of a peer. */
export function startPeer(file: string, args: readonly string[]): Promise<RunningPeer> {
  return start(process.execPath, [join(directory, file), ...args], /^(?:listening on |delivering)(\S*)/)
}

/** Starts a Redis that acknowledges nothing before it is on disk; rejects where redis-server is not installed. */
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
async function start(command: string, args: readonly string[], ready: RegExp): Promise<RunningPeer> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  await once(child, 'spawn')
  // Nothing outlives an interrupted run.
  const abandon = () => child.kill('SIGKILL')
  process.once('exit', abandon)
  const exited = once(child, 'exit').finally(() => process.off('exit', abandon))
  for await (const line of createInterface({ input: child.stdout })) {
    const [, said] = ready.exec(line) ?? []
    if (said === undefined) continue
    child.stdout.resume()
    return {
      said,
      async [Symbol.asyncDispose]() {
        child.kill('SIGTERM')
        const timer = setTimeout(abandon, 30_000)
        await exited
        clearTimeout(timer)
      },
    }
  }
  throw new Error(`${command} ended before it was ready`)
}
