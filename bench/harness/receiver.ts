/** Controls the receiver's process. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../packages/testbed/certificates.ts'

export type ReceiverOrder =
  | { readonly do: 'listen'; readonly key: string; readonly cert: string; readonly priority?: number }
  | { readonly do: 'reset'; readonly recording: boolean }
  | { readonly do: 'tell' }

interface Received {
  readonly received: number
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly firstAt: number
  readonly lastAt: number
  readonly arrivals: readonly (readonly [subject: string, at: number])[]
}

export type ReceiverReport = Received | { readonly port: number }

export interface BenchReceiver extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`. */
  readonly origin: string
  /** PEM file of the authority that issued its certificate. */
  readonly caFile: string
  /**
   * Another process with a certificate of the same authority, which the caller disposes of. Default priority: its
   * parent's.
   */
  another(priority?: number): Promise<BenchReceiver>
  /** Forgets arrivals; `recording` stores each subject's time from now on. */
  reset(recording: boolean): Promise<void>
  tell(): Promise<Received>
}

/** The authority's certificate goes into `directory`. */
export async function startReceiver(directory: string): Promise<BenchReceiver> {
  const authority = createAuthority()
  const caFile = join(directory, 'receiver-ca.pem')
  await writeFile(caFile, authority.ca)
  return startCertified(authority, caFile)
}

async function startCertified(
  authority: Authority,
  caFile: string,
  priority?: number,
): Promise<BenchReceiver> {
  const { key, cert } = authority.issue(['127.0.0.1'])
  const child = fork(new URL('./receiver-process.ts', import.meta.url))
  const { port } = await ask<{ port: number }>(child, {
    do: 'listen',
    key,
    cert,
    ...(priority === undefined ? {} : { priority }),
  })
  return {
    origin: `https://127.0.0.1:${port}`,
    caFile,
    another: (priority) => startCertified(authority, caFile, priority),
    async reset(recording) {
      await ask(child, { do: 'reset', recording })
    },
    tell: () => ask<Received>(child, { do: 'tell' }),
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function ask<A>(child: ChildProcess, order: ReceiverOrder): Promise<A> {
  const answered = once(child, 'message')
  child.send(order)
  const [answer] = await answered
  return answer as A
}
