/** The command line as child processes, the services among them. Nothing of it outlives the test. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from './eventually.ts'

const main = resolve(import.meta.dirname, '../cli/src/main.ts')

export interface ServiceProcess {
  readonly pid: number
  /** `http://127.0.0.1:PORT`; empty for a worker. */
  readonly url: string
  readonly output: () => string
  readonly running: () => boolean
  /** Sends the signal; the exit code when it and its worker process have ended, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** The exit code, when it ends by itself. */
  readonly ended: Promise<number | null>
}

export type Environment = Readonly<Record<string, string>>

export interface Services extends AsyncDisposable {
  /** Starts the command line with these arguments, for tests of what comes before it is ready. */
  spawn(args: readonly string[], environment?: Environment): ChildProcess
  /** Starts `serve`. Resolves when it listens or, a worker, when it delivers. */
  serve(args: readonly string[], environment?: Environment): Promise<ServiceProcess>
}

/** `await using services = createServices()`. */
export function createServices(): Services {
  const children: ChildProcess[] = []

  function run(args: readonly string[], environment: Environment = {}): ChildProcess {
    const child = spawn(process.execPath, [main, ...args], {
      // Tests call as fast as they can.
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DESKWIRE_RATE_LIMIT: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }

  return {
    spawn: run,
    serve: (args, environment) => ready(run(['serve', '--port', '0', ...args], environment)),
    async [Symbol.asyncDispose]() {
      await Promise.all(
        children.map(async (child) => {
          const closed = isClosed(child) ? null : once(child, 'close')
          if (isRunning(child)) child.kill('SIGKILL')
          // Its pipes close when its worker process has ended too.
          for (const stream of [child.stdout!, child.stderr!]) stream.resume()
          await closed
        }),
      )
    },
  }
}

/** A URL for a database that listens on a socket alone. */
export function socketUrl(at: { host: string; port: number; user: string; database: string }): string {
  return `postgres://${at.user}@/${at.database}?host=${encodeURIComponent(at.host)}&port=${at.port}`
}

/** The process id of the worker that runs beside a service of role `all`; null while there is none. */
export async function workerOf(service: { readonly pid: number }): Promise<number | null> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='])
  const line = stdout.split('\n').find((text) => {
    const [, parent] = text.trim().split(/\s+/)
    return Number(parent) === service.pid && text.includes('worker-process')
  })
  return line === undefined ? null : Number(line.trim().split(/\s+/)[0])
}

/** Ends a process that a test started, if it is still there. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

async function ready(child: ChildProcess): Promise<ServiceProcess> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const url = await eventually('the service is ready', () => {
    if (!isRunning(child)) throw new Error(`it ended before it was ready: ${output}`)
    const [found, address] = /^(?:delivering|listening on (\S+))$/m.exec(output) ?? []
    return found === undefined ? null : (address ?? '')
  })
  return {
    pid: child.pid!,
    url,
    output: () => output,
    running: () => isRunning(child),
    ended,
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function isClosed(child: ChildProcess): boolean {
  return !isRunning(child) && child.stdout!.destroyed && child.stderr!.destroyed
}
