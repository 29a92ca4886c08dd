/** Conversations that need a summary, and the engine that writes it, on a clock that the test moves. */

import { kinds } from '../service/src/desk/index.ts'
import type { JobLoop } from '../service/src/kernel/job-loop.ts'
import type { Clock } from '../service/src/kernel/timestamps.ts'
import { schemaOf } from '../service/src/schema.ts'
import { createSummarizer, type SummarySettings } from '../service/src/summarizer/summarizer.ts'
import { createSummaryWriter } from '../service/src/summarizer/writer.ts'
import { summarySettings } from './delivery-settings.ts'
import { makeCustomer } from './desk.ts'
import { interposed } from './interpose.ts'
import { type RunDue, withRunDue } from './run-due.ts'
import type { Api, TestService } from './service.ts'
import { storedEvents } from './stored.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the object has; a wrong guess fails them
type Made = any

export const summaryDelay = summarySettings.delay

interface TestSummarizer extends AsyncDisposable {
  /** `runDue` returns how many jobs ended, with a summary or without one. */
  readonly engine: JobLoop & RunDue
}

/** `await using summarizer = testSummarizer(service, clock)`: one worker's. */
export function testSummarizer(
  service: TestService,
  clock: Clock,
  settings: Partial<SummarySettings> = {},
): TestSummarizer {
  let ended = 0
  const { pool } = interposed(service.database, async (text) => {
    if (/^(delete from|update) summary_jobs\s.*attempts = \$4$/s.test(text)) ended++
  })
  const { log } = service.app.server
  const all = { ...summarySettings, ...settings }
  const writer = createSummaryWriter(all.endpoint, clock, log)
  const summarizer = createSummarizer({
    pool,
    clock,
    log,
    kinds,
    commitFunction: schemaOf(kinds).commitFunction,
    settings: all,
    writer,
    maxAttempts: 6,
  })
  return {
    engine: withRunDue(summarizer, () => ended),
    async [Symbol.asyncDispose]() {
      await summarizer.stop()
      await writer.close()
    },
  }
}

/** The settings of an endpoint at this address. */
export function endpointAt(url: string, timeout = 20_000): Pick<SummarySettings, 'endpoint'> {
  return { endpoint: { url, model: 'stand-in', key: 'sk-secret', timeout } }
}

/** With these messages, alternating, the customer first. */
export async function converse(api: Api, bodies: readonly string[], subject = 'The parcel'): Promise<Made> {
  const customerId = (await makeCustomer(api)).id
  const { id } = await done(api.post('/v1/conversations', { customerId, channel: 'chat', subject }))
  for (const [n, body] of bodies.entries()) {
    const sentAt = new Date(Date.UTC(2026, 0, 1, 12, n)).toISOString()
    await say(api, id, body, n % 2 === 0 ? 'customer' : 'teammate', { sentAt })
  }
  return read(api, id)
}

export function say(
  api: Api,
  conversationId: string,
  body: string,
  by: 'customer' | 'teammate',
  more: object = {},
): Promise<Made> {
  const direction = by === 'customer' ? 'inbound' : 'outbound'
  return done(api.post('/v1/messages', { conversationId, direction, author: { type: by }, body, ...more }))
}

export async function read(api: Api, id: string): Promise<Made> {
  return done(api.get(`/v1/conversations/${id}`))
}

export function act(api: Api, id: string, action: string, body: object = {}): Promise<Made> {
  return done(api.post(`/v1/conversations/${id}/${action}`, body))
}

/** A conversation with these messages, resolved. */
export async function resolved(api: Api, bodies: readonly string[] = ['Where is my parcel?']): Promise<Made> {
  const { id } = await converse(api, bodies)
  return act(api, id, 'resolve')
}

/** The number of events of this conversation's summary. */
export async function announcements(service: TestService, api: Api, id: string): Promise<number> {
  const events = await storedEvents(service, api.organizationId, id)
  return events.filter(({ type }) => type === 'conversation.summarized').length
}

/** The remaining jobs, first due first. */
export async function jobsOf(service: TestService) {
  const { rows } = await service.database.pool.query<{
    conversation_id: string
    due_at: Date
    attempts: number
  }>(
    'select j.conversation_id, j.due_at, j.attempts from summary_jobs j order by j.due_at, j.conversation_id',
  )
  return rows.map(({ conversation_id: id, due_at, attempts }) => ({ id, due: due_at.getTime(), attempts }))
}

async function done(answer: ReturnType<Api['get']>): Promise<Made> {
  const { status, text, json } = await answer
  if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`)
  return json
}
