/** Whole processes, started as a user starts them; each test leaves nothing running and nothing on disk. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { processesOf, signal } from '../../embedded-postgres/src/processes.ts'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
const cli = join(root, 'packages/cli/src/main.ts')

/** The machine's environment without settings of Deskwire, and with an npm that says nothing of its own. */
export function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith('DESKWIRE_'))
  return {
    ...Object.fromEntries(plain),
    npm_config_update_notifier: 'false',
    npm_config_loglevel: 'error',
    ...settings,
  }
}

export interface DataDir extends AsyncDisposable {
  /** Does not exist yet: the service makes it. */
  readonly path: string
  /** An existing directory to run in, beside it. */
  readonly parent: string
  /** Process ids of an embedded database that runs on it. */
  running(): Promise<number[]>
}

/** `await using dataDir = await temporaryDataDir()`. */
export async function temporaryDataDir(): Promise<DataDir> {
  const parent = await mkdtemp(join(tmpdir(), 'deskwire-cli-'))
  const path = join(parent, 'data')
  const cluster = join(path, 'postgres')
  const running = async () => (existsSync(cluster) ? processesOf(cluster) : [])
  return {
    path,
    parent,
    running,
    async [Symbol.asyncDispose]() {
      for (const pid of await running()) signal(pid, 'SIGKILL')
      await until('the database has ended', async () => (await running()).length === 0)
      await rm(parent, { recursive: true, force: true })
    },
  }
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `deskwire` with these words to its end. */
export function deskwire(
  words: readonly string[],
  options: { settings?: Record<string, string>; cwd?: string } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [cli, ...words], {
    cwd: options.cwd ?? root,
    env: environment(options.settings ?? {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return ended(child, collect(child))
}

/** A line of a shell to its end: the exit code of the first command of its pipe, and what that said on standard error. */
export async function piped(words: readonly string[], into: string, settings: Record<string, string> = {}) {
  const child = spawn(
    'bash',
    ['-c', `"$0" "$@" ${into}; exit \${PIPESTATUS[0]}`, process.execPath, cli, ...words],
    {
      env: environment(settings),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [code, stdout, stderr] = await Promise.all([
    once(child, 'close').then(([code]) => code as number),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

export interface Background extends AsyncDisposable {
  readonly output: { stdout: string; stderr: string }
  /** Resolves when it has ended, by itself or told to. */
  readonly end: Promise<Ran>
  /** Sends the signal and waits for the end. */
  stop(name: NodeJS.Signals): Promise<Ran>
}

/** `deskwire` with these words, left running. */
export function startDeskwire(
  words: readonly string[],
  options: { settings?: Record<string, string>; cwd?: string } = {},
): Background {
  const child = spawn(process.execPath, [cli, ...words], {
    cwd: options.cwd ?? root,
    env: environment(options.settings ?? {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  const end = ended(child, output)
  return {
    output,
    end,
    stop(name) {
      child.kill(name)
      return end
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await end
    },
  }
}

export interface Service extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, as the service says. */
  readonly url: string
  readonly output: { stdout: string; stderr: string }
  /** Sends the signal to npm alone, or as Ctrl-C does to everything it started, and waits for the end. */
  stop(name: NodeJS.Signals, to?: 'npm' | 'all'): Promise<Ran>
  /** Whether anything of it is left, the database apart. */
  isAlive(): boolean
}

/** `npm start` on a free port, or a line of a shell that ends in it. */
export async function npmStart(settings: Record<string, string>, line?: string): Promise<Service> {
  const [program, ...words] = line === undefined ? ['npm', 'start'] : ['bash', '-c', line]
  const child = spawn(program as string, words, {
    cwd: root,
    env: environment({ DESKWIRE_PORT: '0', ...settings }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, as a terminal gives to what it runs.
    detached: true,
  })
  const group = -(child.pid as number)
  const output = collect(child)
  const end = ended(child, output)
  const isAlive = () => {
    try {
      return process.kill(group, 0)
    } catch {
      return false
    }
  }
  const address = () => /^listening on (http:\S+)$/m.exec(output.stdout)?.[1]
  await until('the service listens', () => address() !== undefined || child.exitCode !== null).catch(() => {})
  const url = address()
  if (url === undefined) {
    if (isAlive()) process.kill(group, 'SIGKILL')
    throw new Error(`npm start does not listen:\n${output.stdout}\n${output.stderr}`)
  }
  return {
    url,
    output,
    isAlive,
    stop(name, to = 'npm') {
      process.kill(to === 'npm' ? (child.pid as number) : group, name)
      return end
    },
    async [Symbol.asyncDispose]() {
      if (isAlive()) process.kill(group, 'SIGTERM')
      await until('the service has ended', () => !isAlive()).catch(() => process.kill(group, 'SIGKILL'))
    },
  }
}

/** Asks again and again, for a minute at most. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within 120 s: ${what}`)
    await delay(20)
  }
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}

function ended(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Ran> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...output }))
  })
}
