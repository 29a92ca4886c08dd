/** A program as a child process: what it prints, when it is ready, how it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { eventually } from './eventually.ts'

/** How long a program may take until it prints what is waited for, on a machine that has much else to do; ms. */
const patience = 120_000

/** How a program ended; the code is null after a signal. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly cwd?: string
  /** Its whole environment; default: this process's. */
  readonly env?: NodeJS.ProcessEnv
  /** In a process group of its own, as a terminal gives to what it runs: signals go to all that it started. */
  readonly group?: boolean
  /** What it reads; with `open`, what is written to `stdin`; default: nothing. */
  readonly input?: string | 'open'
  /** Its standard error is this process's, and not collected. */
  readonly shown?: boolean
}

/** `await using program = startProgram(…)`: it ends with SIGTERM where the test does. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** What it has printed so far; `all` is both streams as they came. */
  readonly output: { readonly stdout: string; readonly stderr: string; readonly all: string }
  readonly stdin: Writable | null
  /** Whether it runs; of a group, whether anything of it does. */
  running(): boolean
  /** Waits until it has printed this, and answers the match. Rejects, with what it printed, when it ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** When it has ended and nothing that it started holds its streams. */
  readonly ended: Promise<Ran>
  /** Sends the signal, to the program or to its group, and waits for the end. */
  end(signal: NodeJS.Signals, to?: 'program' | 'group'): Promise<Ran>
}

/** Starts it. A command that is not there rejects `ended` and `prints`. */
export function startProgram(
  command: string,
  words: readonly string[],
  { cwd, env, group = false, input, shown = false }: ProgramOptions = {},
): Program {
  const child = spawn(command, words, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    detached: group,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', shown ? 'inherit' : 'pipe'],
  })
  const pid = child.pid ?? 0
  const output = { stdout: '', stderr: '', all: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      output.all += text
    })
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout: output.stdout, stderr: output.stderr }))
  })
  // Whoever waits hears of it.
  ended.catch(() => {})
  // It may end before it has read everything.
  child.stdin?.on('error', () => {})
  if (input !== undefined && input !== 'open') child.stdin?.end(input)

  const running = () => (group ? kill(-pid, 0) : child.exitCode === null && child.signalCode === null)
  const signal = (name: NodeJS.Signals, to: 'program' | 'group') => {
    if (running()) kill(to === 'group' ? -pid : pid, name)
  }
  return {
    pid,
    output,
    stdin: child.stdin,
    running,
    prints: (pattern) => printed(child, output, ended, pattern),
    ended,
    end(name, to = 'program') {
      signal(name, to)
      return ended
    },
    async [Symbol.asyncDispose]() {
      if (pid === 0) return
      signal('SIGTERM', group ? 'group' : 'program')
      await eventually(`${command} has ended`, () => !running()).catch(() =>
        signal('SIGKILL', group ? 'group' : 'program'),
      )
      await ended
    },
  }
}

async function printed(
  child: ChildProcess,
  output: Program['output'],
  ended: Promise<Ran>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
  const look = () => {
    const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr)
    if (match !== null) resolve(match)
  }
  const fail = (why: string) => reject(new Error(`${why}: ${output.all}`))
  const timer = setTimeout(() => fail(`not within ${patience} ms ${pattern}`), patience)
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null)
  for (const stream of streams) stream.on('data', look)
  look()
  ended.then(() => fail('it has ended'), reject)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    for (const stream of streams) stream.off('data', look)
  }
}

/** Sends a process, or a group by its negated id, a signal if it is still there; 0 only looks. Whether it was. */
export function kill(pid: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
