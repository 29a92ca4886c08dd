/** Runs tasks of one key one after another, and tasks of different keys concurrently. */
export interface KeyedQueue {
  /** A task whose signal aborts before it starts does not run: the promise rejects with the reason. */
  run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return {
    run(key, work, signal) {
      const before = tails.get(key)
      const task = async () => {
        signal?.throwIfAborted()
        return work()
      }
      // A failed task rejects only for its own caller; the next one still starts.
      const result = before === undefined ? task() : before.then(task, task)
      tails.set(key, result)
      const forget = () => {
        if (tails.get(key) === result) tails.delete(key)
      }
      result.then(forget, forget)
      return result
    },
  }
}
