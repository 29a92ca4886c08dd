/** The command line as child processes, among them services. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { leanEnvironment } from '../cli/src/start-lean.ts'
import { type Program, type ProgramOptions, type Ran, startProgram } from './program.ts'
import { root } from './repository.ts'

/** In a run of tests the bundle, otherwise the sources. */
export const main = process.env.TESTED_DESKWIRE ?? join(root, 'packages/cli/deskwire.js')

export type Environment = Readonly<Record<string, string>>

interface DeskwireOptions extends Omit<ProgramOptions, 'env'> {
  /** In addition to this process's environment without Deskwire's settings. */
  readonly settings?: Environment
  /** The command line of another release. */
  readonly main?: string
  /** Node's own. */
  readonly nodeFlags?: readonly string[]
}

export interface ServiceProcess extends Program {
  /** `http://127.0.0.1:PORT`; empty for a worker. */
  readonly url: string
}

/** This process's environment without Deskwire's settings, and with a quiet npm. */
export function environment(settings: Environment): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith('DESKWIRE_'))
  return {
    ...Object.fromEntries(plain),
    npm_config_update_notifier: 'false',
    npm_config_loglevel: 'error',
    // Not what this user is logged in to.
    XDG_CONFIG_HOME: '/nonexistent',
    ...settings,
  }
}

/**
 * With what `serve` replaces its process, which would be a second start of Node: `npm start` and the guides' commands
 * show that it does.
 */
const replaced = process.env.TESTED_DESKWIRE === undefined ? {} : leanEnvironment

/** `await using command = startDeskwire(['tail'])`. */
export function startDeskwire(words: readonly string[], options: DeskwireOptions = {}): Program {
  const { settings = {}, main: program = main, nodeFlags = [], ...others } = options
  return startProgram(process.execPath, [...nodeFlags, program, ...words], {
    cwd: root,
    ...others,
    env: environment(words[0] === 'serve' ? { ...replaced, ...settings } : settings),
  })
}

/** Runs `deskwire` with these words to its end. */
export function deskwire(words: readonly string[], options: DeskwireOptions = {}): Promise<Ran> {
  return startDeskwire(words, options).ended
}

/** In a pipe of a shell: returns exit code and standard error of the first command. */
export function piped(words: readonly string[], into: string): Promise<Ran> {
  const line = `"$0" "$@" ${into}; exit \${PIPESTATUS[0]}`
  return startProgram('bash', ['-c', line, process.execPath, main, ...words], {
    cwd: root,
    env: environment({}),
  }).ended
}

/** `await using service = await serve(words)`, on a free port. Resolves when it listens or, as a worker, delivers. */
export function serve(words: readonly string[], options: DeskwireOptions = {}): Promise<ServiceProcess> {
  return ready(startDeskwire(['serve', '--port', '0', ...words], options))
}

/** `npm start` on a free port, or a shell command that ends in it. */
export function npmStart(settings: Environment, line = 'exec npm start'): Promise<ServiceProcess> {
  const env = environment({ DESKWIRE_PORT: '0', ...settings })
  return ready(startProgram('bash', ['-c', line], { cwd: root, env, group: true }))
}

/** Waits until a serving program is ready; ends it if it is not. */
export async function ready(program: Program): Promise<ServiceProcess> {
  try {
    const [, url = ''] = await program.prints(/^(?:delivering|listening on (http:\S+))$/m)
    return { ...program, url }
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
}

export interface Services extends AsyncDisposable {
  /** Starts the command line with these words. */
  start(words: readonly string[], settings?: Environment): Program
  /** As the function `serve`. */
  serve(words: readonly string[], settings?: Environment): Promise<ServiceProcess>
}

/**
 * `await using services = createServices()`: any number of services without rate limit, which are killed at the end of
 * the test.
 */
export function createServices(options: Omit<DeskwireOptions, 'settings'> = {}): Services {
  const started: Program[] = []
  const start = (words: readonly string[], settings: Environment = {}) => {
    const program = startDeskwire(words, {
      ...options,
      settings: { DESKWIRE_RATE_LIMIT: '0', ...settings },
    })
    started.push(program)
    return program
  }
  return {
    start,
    serve: (words, settings) => ready(start(['serve', '--port', '0', ...words], settings)),
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((program) => program.end('SIGKILL')))
    },
  }
}

/** A URL for a database that listens on a socket alone. */
export function socketUrl(at: { host: string; port: number; user: string; database: string }): string {
  return `postgres://${at.user}@/${at.database}?host=${encodeURIComponent(at.host)}&port=${at.port}`
}

/** The process id of the worker of a service of role `all`; null while there is none. */
export async function workerOf(service: { readonly pid: number }): Promise<number | null> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='])
  const line = stdout.split('\n').find((text) => {
    const [, parent] = text.trim().split(/\s+/)
    return Number(parent) === service.pid && text.includes('worker-process')
  })
  return line === undefined ? null : Number(line.trim().split(/\s+/)[0])
}
