/** `deskwire` in the process of the test. */
import type { EventEmitter } from 'node:events'
import { vi } from 'vitest'
import { root } from '../../testbed/repository.ts'
import { deskwire, environment } from '../../testbed/services.ts'
import { runDeskwire } from '../src/run.ts'

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `deskwire` with these words to its end, in this process, which takes a tenth of the time: for what a command does and says, and
 * not for how its process begins, is signalled and writes.
 */
export async function runHere(
  words: readonly string[],
  options: { settings?: Record<string, string>; cwd?: string } = {},
): Promise<Ran> {
  // It lowers the priority of its process for good: all later tests, and what they start, would have it.
  if (words.slice(0, 2).join(' ') === 'organizations move') return deskwire(words, options)
  const said = { stdout: '', stderr: '' }
  const written = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...rest) => {
      said[name] += String(chunk)
      const done = rest.find((one) => typeof one === 'function')
      done?.()
      return true
    }),
  )
  const [before, cwd] = [process.env, process.cwd()]
  const listeners = (
    [
      [process, 'SIGINT'],
      [process, 'SIGTERM'],
      [process.stdout, 'error'],
      [process.stderr, 'error'],
    ] as const
  ).map(([emitter, name]: readonly [EventEmitter, string]) => ({
    emitter,
    name,
    kept: emitter.listeners(name),
  }))
  process.env = environment(options.settings ?? {})
  process.chdir(options.cwd ?? root)
  try {
    await runDeskwire(words)
    return { code: Number(process.exitCode ?? 0), ...said }
  } finally {
    process.env = before
    process.chdir(cwd)
    process.exitCode = 0
    // A command ends with its process, and leaves its listeners there.
    for (const { emitter, name, kept } of listeners)
      for (const one of emitter.listeners(name) as (() => void)[])
        if (!kept.includes(one)) emitter.off(name, one)
    for (const one of written) one.mockRestore()
  }
}
