/** Controls the process of waiting readers. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A reader's key and its list. */
export interface Reader {
  readonly token: string
  /** `/v1/customers`, or `/v1/changes`. */
  readonly path: string
  /** Reads a stream of events instead of waiting again and again. */
  readonly streams?: boolean
}

export type WaitersOrder =
  | { readonly do: 'begin'; readonly url: string; readonly readers: readonly Reader[] }
  | { readonly do: 'expect'; readonly answers: number }
  | { readonly do: 'tell' }

export type WaitersReport =
  | { readonly are: 'waiting' | 'ready' }
  | {
      readonly are: 'answered'
      /** When each response arrived, in milliseconds since the Unix epoch, in that order. */
      readonly at: readonly number[]
      /** Distinct ids in the responses. */
      readonly ids: readonly string[]
    }

type Answered = Extract<WaitersReport, { are: 'answered' }>

export interface BenchWaiters extends AsyncDisposable {
  /** Starts counting anew. */
  expect(answers: number): Promise<void>
  /** Once all expected responses have arrived and the readers wait again. */
  tell(): Promise<Answered>
}

/** Each on a connection of its own; resolves when all wait. */
export async function startWaiters(url: string, readers: readonly Reader[]): Promise<BenchWaiters> {
  const child = fork(new URL('./waiters-process.ts', import.meta.url))
  // A process that fails prints why; its caller only sees that it ended.
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
