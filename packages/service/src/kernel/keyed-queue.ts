export type KeyedQueue = ReturnType<typeof createKeyedQueue>

/** Runs tasks of one key one after another, and tasks of different keys concurrently. */
export function createKeyedQueue() {
  const tails = new Map<string, Promise<unknown>>()
  return {
    /** A task whose signal aborts before it starts does not run: the promise rejects with the reason. */
    run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
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
