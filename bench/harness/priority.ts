/** The priority of a process that stands for another machine. */
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Gives it to all threads that the process has, where the system counts by threads: those that collect its garbage and compile for it
 * would take the processors from what is measured all the same.
 */
export function setPriorityOfAll(priority: number): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : ['0']
  for (const thread of threads) {
    try {
      setPriority(Number(thread), priority)
    } catch (error) {
      // One that has ended meanwhile.
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error
    }
  }
}
