/**
 * A thread that answers calls. It starts with the first call and ends when it has been idle for a while; the next call
 * starts another.
 */
import {
  type MessagePort,
  parentPort,
  type Transferable,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads'

/** Durations in milliseconds. */
interface CallThreadOptions extends WorkerOptions {
  readonly idleAfter: number
  /** How long a stop waits for the thread before it is terminated. */
  readonly stopWithin: number
  /** It ends after such an error. */
  readonly onError: (error: Error) => void
}

type ToThread<Call> = { readonly number: number; readonly call: Call } | 'stop'

type FromThread<Answer> =
  | { readonly number: number; readonly answer: Answer }
  | { readonly number: number; readonly failure: string }

interface Running<Answer> {
  readonly worker: Worker
  readonly ended: Promise<void>
  readonly pending: Map<number, PromiseWithResolvers<Answer>>
}

export type CallThread<Call, Answer> = ReturnType<typeof createCallThread<Call, Answer>>

/**
 * The thread runs `name`, which calls `answerCalls`, in the folder of the module `here`: TypeScript in the repository,
 * JavaScript as published.
 */
export function createCallThread<Call, Answer>(here: string, name: string, options: CallThreadOptions) {
  const { idleAfter, stopWithin, onError, ...workerOptions } = options
  const file = new URL(here.replace(/[^/]+(\.[jt]s)$/, `${name}$1`))
  let thread: Running<Answer> | null = null
  let idle: NodeJS.Timeout | undefined
  let lastNumber = 0
  let underWay = 0

  function start(): Running<Answer> {
    const worker = new Worker(file, workerOptions)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const started: Running<Answer> = { worker, ended, pending: new Map() }
    const { pending } = started
    worker.on('message', (message: FromThread<Answer>) => {
      const asked = pending.get(message.number)
      pending.delete(message.number)
      if ('answer' in message) asked?.resolve(message.answer)
      else asked?.reject(new Error(message.failure))
    })
    worker.on('error', onError)
    worker.once('exit', (code) => {
      resolve()
      if (thread === started) thread = null
      const lost = new Error(`the thread ended with code ${code}`)
      for (const { reject } of pending.values()) reject(lost)
    })
    return started
  }

  function send(to: Running<Answer>, call: Call, transferred: readonly Transferable[] = []): Promise<Answer> {
    const asked = Promise.withResolvers<Answer>()
    const number = ++lastNumber
    to.pending.set(number, asked)
    to.worker.postMessage({ number, call } satisfies ToThread<Call>, transferred)
    return asked.promise
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = thread
    thread = null
    if (ending === null) return
    ending.worker.postMessage('stop' satisfies ToThread<Call>)
    const late = setTimeout(() => ending.worker.terminate(), stopWithin)
    await ending.ended
    clearTimeout(late)
  }

  return {
    /** Rejects when the thread fails, and then the call may have taken effect. */
    async call(call: Call, transferred?: readonly Transferable[]): Promise<Answer> {
      clearTimeout(idle)
      thread ??= start()
      underWay++
      try {
        return await send(thread, call, transferred)
      } finally {
        underWay--
        clearTimeout(idle)
        if (underWay === 0) idle = setTimeout(() => void stop(), idleAfter).unref()
      }
    },
    /** The same, without starting a thread or keeping it from ending. Null: there is none. */
    peek: (call: Call): Promise<Answer> | null => (thread === null ? null : send(thread, call)),
    /** Ends the thread after its calls; a later call starts another. */
    stop,
  }
}

/** In the thread: answers each call. `stop` runs before the thread ends. */
export function answerCalls<Call, Answer>(
  answer: (call: Call) => Promise<Answer> | Answer,
  {
    transferred = () => [],
    stop = async () => {},
  }: {
    readonly transferred?: (answer: Answer) => Transferable[]
    readonly stop?: () => Promise<void>
  } = {},
): void {
  const port = parentPort as MessagePort
  port.on('message', async (message: ToThread<Call>) => {
    if (message === 'stop') {
      await stop()
      process.exit(0)
    }
    const { number, call } = message
    try {
      const answered = await answer(call)
      port.postMessage({ number, answer: answered } satisfies FromThread<Answer>, transferred(answered))
    } catch (error) {
      port.postMessage({ number, failure: (error as Error).message } satisfies FromThread<Answer>)
    }
  })
}
