/** A program as a child process: what it prints, when it is ready, how it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { eventually } from './eventually.ts'

/** In milliseconds; long, as the machine may be busy. */
const patience = 120_000

/** The code is null after a signal. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly cwd?: string
  /** Its whole environment; default: this process's. */
  readonly env?: NodeJS.ProcessEnv
  /** In a process group of its own: signals go to everything that it started. */
  readonly group?: boolean
  /** Standard input; with `open`, what is written to `stdin`; default: none. */
  readonly input?: string | 'open'
  /** Its standard error is this process's, and not collected. */
  readonly shown?: boolean
}

/** `await using program = startProgram(…)`: ends with SIGTERM. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** `all`: both streams as they came. */
  readonly output: { readonly stdout: string; readonly stderr: string; readonly all: string }
  readonly stdin: Writable | null
  /** Whether it, or anything of its group, runs. */
  running(): boolean
  /** Waits until it has printed this; returns the match. Rejects, with the output, when it ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** When it has ended and nothing that it started holds its streams. */
  readonly ended: Promise<Ran>
  /** Sends the signal to the program or its group, and waits for the end. */
  end(signal: NodeJS.Signals, to?: 'program' | 'group'): Promise<Ran>
}

/** A missing command rejects `ended` and `prints`. */
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
  // Callers that wait get the rejection.
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
  const fail = (why: string) => reject(new Error(`${why}: ${output.all.trimEnd()}`))
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

/** Sends a signal to a process or, by a negated id, a group; 0 only checks. Returns whether it existed. */
export function kill(pid: number, signal: NodeJS.Signals | 0 = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
