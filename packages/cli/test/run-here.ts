/** `deskwire` in the process of the test. */
import { vi } from 'vitest'
import { root } from '../../testbed/repository.ts'
import { environment } from '../../testbed/services.ts'
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
  const signals = (['SIGINT', 'SIGTERM'] as const).map((name) => [name, process.listeners(name)] as const)
  process.env = environment(options.settings ?? {})
  process.chdir(options.cwd ?? root)
  try {
    await runDeskwire(words)
    return { code: Number(process.exitCode ?? 0), ...said }
  } finally {
    process.env = before
    process.chdir(cwd)
    process.exitCode = 0
    // A command that waits for a signal ends with its process, and leaves its listeners there.
    for (const [name, kept] of signals)
      for (const one of process.listeners(name)) if (!kept.includes(one)) process.off(name, one)
    for (const one of written) one.mockRestore()
  }
}
