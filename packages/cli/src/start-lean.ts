/**
 * The service is started with settings that a running process cannot change any more, so that it keeps little memory
 * that it does not use. Where the system lets a process replace itself, which keeps its id and what it reads and
 * writes, `serve` does.
 */
// As a whole: an older Node, which does not have all of it, has to get as far as being refused by name.
import module from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'

/** Threads that help V8 to collect garbage, as many as Node has by itself. */
const helpersAtMost = 4

/**
 * Of V8: new objects have 4 MB before they are looked through, and not 16, of which V8 holds twice as much for as
 * long as the process lives. And it has no more helpers than there are processors besides the one of the thread that
 * collects: it waits for each that has begun, also while that one waits for a processor.
 */
const flags = [
  '--max-semi-space-size=4',
  `--v8-pool-size=${Math.max(1, Math.min(helpersAtMost, availableParallelism() - 1))}`,
]

/**
 * Of glibc, and without effect elsewhere: what has 1 MiB and more, as bodies and pages may, goes back to the system
 * when it is done with, which glibc stops doing after the first. (Fewer arenas would save little more, and threads of
 * low priority would share one with the thread that serves everybody, and keep it locked while they wait for a
 * processor.)
 */
export const leanEnvironment = { MALLOC_MMAP_THRESHOLD_: '1048576', MALLOC_TRIM_THRESHOLD_: '4194304' }

/**
 * Does not return where it replaces the process. Whoever has it profiled, or sets `MALLOC_MMAP_THRESHOLD_`, has
 * Node's own settings.
 */
export function startLean(): void {
  const { execve } = process
  if (process.platform !== 'linux' || execve === undefined) return
  // A channel to the parent would be closed.
  if (process.env.MALLOC_MMAP_THRESHOLD_ !== undefined || process.connected) return
  // The profiler's next signal would find nobody who handles it, and end the process.
  if (isProfiled()) return
  const cache = module.getCompileCacheDir()
  const set = {
    ...leanEnvironment,
    // Node reads the system's authorities at the first TLS connection, and the worker and its threads inherit this.
    NODE_USE_SYSTEM_CA: '1',
    ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }),
    ...process.env,
  }
  const [, ...words] = process.argv
  execve.call(process, process.execPath, [process.execPath, ...flags, ...process.execArgv, ...words], set)
}

/** Whether `--cpu-prof` or V8's `--prof` samples it. */
function isProfiled(): boolean {
  const { execArgv, env } = process
  return [...execArgv, ...(env.NODE_OPTIONS ?? '').split(' ')].some((flag) => /^--(cpu-)?prof\b/.test(flag))
}
