/** A sender and a receiver that it may reach, for one test file. */
import { join } from 'node:path'
import { createResolver } from '../service/src/delivery/send/resolver.ts'
import { createSender, type Sender, type SenderOptions } from '../service/src/delivery/send/send.ts'
import type { SendOutcome } from '../service/src/delivery/verdict.ts'
import { noNetworks, parseNetworks } from '../service/src/kernel/networks.ts'
import { systemClock } from '../service/src/kernel/timestamps.ts'
import { createAuthority } from './certificates.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts'

/** In milliseconds, for attempts that reach their deadline. */
export const shortDeadline = 300
/** For those that do not. */
const longDeadline = 20_000

export const authority = createAuthority()
const certified = authority.issue(['hook.test', 'other.test', 'localhost', '127.0.0.1', '127.0.0.2', '::1'])

interface Bench {
  sender(options?: Partial<SenderOptions> & { trusted?: string; servers?: readonly string[] | null }): Sender
  receiver(options?: Partial<ReceiverOptions>): Promise<Receiver>
  close(): Promise<void>
}

/** Connections for attempts that are likely to be answered, and for others. */
export const ways: readonly (readonly [string, { readonly ownConnection: boolean }])[] = [
  ['likely to be answered', { ownConnection: false }],
  ['doubtful', { ownConnection: true }],
]

export function createBench(way: { readonly ownConnection: boolean } = { ownConnection: false }): Bench {
  const closing: (() => void | Promise<void>)[] = []
  return {
    sender({ trusted = '127.0.0.1', servers = null, ...options } = {}) {
      const resolver = createResolver({
        servers,
        trusted: parseNetworks(trusted) ?? noNetworks,
        clock: systemClock,
        hostsFile: join(import.meta.dirname, 'no such file'),
      })
      const sender = createSender({
        resolver,
        clock: systemClock,
        answerTimeoutMs: longDeadline,
        targetCa: authority.ca,
        ...options,
      })
      closing.push(() => {
        sender.close()
        resolver.close()
      })
      return {
        send: (request) => sender.send({ ...way, ...request }),
        close: () => sender.close(),
      }
    },
    async receiver(options = {}) {
      const receiver = await startReceiver({ ...certified, ...options })
      closing.push(() => receiver.close())
      return receiver
    },
    async close() {
      for (const close of closing.splice(0)) await close()
    },
  }
}

/** A POST of a small body to the receiver, by default under the name localhost. */
export function post(
  sender: Sender,
  receiver: { readonly port: number },
  more: {
    organizationId?: string
    host?: string
    path?: string
    headers?: Record<string, string>
    body?: Buffer | string
    ownConnection?: boolean
  } = {},
): Promise<SendOutcome> {
  const { host = 'localhost', path = '/hook', headers = {}, body = '{"hello":"world"}', ...own } = more
  const url = `https://${host}:${receiver.port}${path}`
  return sender.send({ organizationId: 'one', url, headers, body, ...own })
}
