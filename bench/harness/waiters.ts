/** Readers that wait for changes, in a process of their own, from the side of the benchmark. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A reader's key and the list that it reads to its end before it waits. */
export interface Reader {
  readonly token: string
  /** `/v1/customers`, or `/v1/changes`. */
  readonly path: string
}

export type WaitersOrder =
  | { readonly do: 'begin'; readonly url: string; readonly readers: readonly Reader[] }
  | { readonly do: 'expect'; readonly answers: number }
  | { readonly do: 'tell' }

export type WaitersReport =
  | { readonly are: 'waiting' | 'ready' }
  | {
      readonly are: 'answered'
      /** When each answer had come, in milliseconds since the Unix epoch, in that order. */
      readonly at: readonly number[]
      /** The ids that the answers held, each once. */
      readonly ids: readonly string[]
    }

type Answered = Extract<WaitersReport, { are: 'answered' }>

export interface BenchWaiters extends AsyncDisposable {
  /** Counts afresh from here on: so many answers are expected. */
  expect(answers: number): Promise<void>
  /** The answers, once all that were expected have come and the readers wait again. */
  tell(): Promise<Answered>
}

/** Starts them, each on a connection of its own, and resolves when all wait. */
export async function startWaiters(url: string, readers: readonly Reader[]): Promise<BenchWaiters> {
  const child = fork(new URL('./waiters-process.ts', import.meta.url))
  // A process that fails says why itself; whoever waits for it hears no more than its end.
  const ended = once(child, 'exit').then(() => {
    throw new Error('the waiting readers ended')
  })
  ended.catch(() => {})
  async function ask<A extends WaitersReport>(order: WaitersOrder): Promise<A> {
    const answered = once(child, 'message')
    child.send(order)
    const [answer] = await Promise.race([answered, ended])
    return answer as A
  }
  await ask({ do: 'begin', url, readers })
  return {
    async expect(answers) {
      await ask({ do: 'expect', answers })
    },
    tell: () => ask<Answered>({ do: 'tell' }),
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended.catch(() => {})
    },
  }
}
