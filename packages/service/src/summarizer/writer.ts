/** Writes summaries, in a thread or by a language model. One for the workers of a process. */
import type { Logger } from 'pino'
import { createCallThread } from '../kernel/call-thread.ts'
import { loggable } from '../kernel/log.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { type ChatEndpointSettings, createChatEndpoint, type Summarized } from './chat-endpoint.ts'
import type { ReadText, ToRead } from './text-thread.ts'

export interface SummaryWriter {
  /** Rejects when the signal aborts, and when the messages cannot be read. */
  write(read: Omit<ToRead, 'picks'>, signal: AbortSignal): Promise<Summarized>
  close(): Promise<void>
}

const idleAfter = 10_000
const stopWithin = 1_000

/** `endpoint` null: sentences are picked. The thread is started when it is needed. */
export function createSummaryWriter(
  endpoint: ChatEndpointSettings | null,
  clock: Clock,
  log: Pick<Logger, 'error'>,
): SummaryWriter {
  const onError = (error: Error) =>
    log.error({ err: loggable(error) }, 'the thread that reads messages failed')
  const thread = createCallThread<ToRead, ReadText>(import.meta.url, 'text-thread', {
    idleAfter,
    stopWithin,
    onError,
  })
  const chat = endpoint && createChatEndpoint(endpoint, clock)
  return {
    async write(read, signal) {
      const text = await thread.call({ ...read, picks: chat === null })
      if ('summary' in text) return { outcome: 'written', summary: text.summary }
      if (chat === null) throw new Error('the thread picked no sentences')
      return chat(text.transcript, signal)
    },
    close: thread.stop,
  }
}
