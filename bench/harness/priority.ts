/** The priority of a process that represents another machine. */
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Of all its threads, where the system counts by threads: garbage collection and compilation would otherwise still
 * compete with what is measured.
 */
export function setPriorityOfAll(priority: number): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : ['0']
  for (const thread of threads) {
    try {
      setPriority(Number(thread), priority)
    } catch (error) {
      // It has ended meanwhile.
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error
    }
  }
}
