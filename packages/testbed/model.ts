/** A scripted language model with an OpenAI-compatible chat endpoint. */
import { eventually } from './eventually.ts'
import { answer, type Behaviour, type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts'

interface ChatRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly model: string
  /** Other fields of the request's body. */
  readonly rest: Readonly<Record<string, unknown>>
  readonly system: string
  readonly user: string
}

export interface Model extends AsyncDisposable {
  /** For DESKWIRE_SUMMARIZER. */
  readonly url: string
  readonly receiver: Receiver
  readonly asked: readonly ChatRequest[]
  /** Behaviours of the next requests; the last one repeats. */
  will(...behaviours: readonly Behaviour[]): void
}

/** A chat completion with this text. */
export function says(content: string | null): Behaviour {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_770_000_000,
    model: 'stand-in',
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  return answer(200, JSON.stringify(completion), { 'content-type': 'application/json' })
}

/** `await using model = await startModel()`: default: "A summary." */
export async function startModel(options: Partial<ReceiverOptions> = {}): Promise<Model> {
  const { speaks = 'plain', key = '', cert = '' } = options
  const receiver = await startReceiver({ ...options, speaks, key, cert })
  receiver.will(says('A summary.'))
  return {
    url: `${speaks === 'tls' ? 'https' : 'http'}://127.0.0.1:${receiver.port}/v1`,
    receiver,
    get asked() {
      return receiver.requests.map(({ path, headers, body }) => {
        const { model, messages, ...rest } = JSON.parse(body.toString())
        const [system, user] = messages
        if (messages.length !== 2 || system.role !== 'system' || user.role !== 'user')
          throw new Error(`not a system and a user message: ${JSON.stringify(messages)}`)
        const { authorization } = headers
        return { path, authorization, model, rest, system: system.content, user: user.content }
      })
    },
    will: (...behaviours) => receiver.will(...behaviours),
    [Symbol.asyncDispose]: receiver.close,
  }
}

interface HeldModel {
  readonly behaviour: Behaviour
  hanging(count: number): Promise<void>
  release(content: string): void
}

/** Answers when the test says so. */
export function heldModel(): HeldModel {
  let held: ((content: string) => void)[] = []
  return {
    behaviour: (socket, request, below) => held.push((content) => says(content)(socket, request, below)),
    hanging: async (count) => {
      await eventually(`${count} requests hang`, () => held.length === count)
    },
    release: (content) => {
      for (const answerIt of held) answerIt(content)
      held = []
    },
  }
}
