/** Holds streams of events open, from a process of its own, and reads what they send. */
import { eventStream } from '../../packages/testbed/mcp-client.ts'

const { url, tokens, each } = JSON.parse(process.argv[2] ?? '') as {
  readonly url: string
  readonly tokens: readonly string[]
  readonly each: number
}

const leaving = new AbortController()
const opening: Promise<void>[] = []
for (const token of tokens)
  for (let n = 0; n < each; n++) {
    const messages = eventStream(url, token, { name: 'customer.created' }, leaving.signal)
    opening.push(messages.next().then(({ value }) => opened(value)))
    // The first message is awaited before the next is asked for.
    const readOn = async () => {
      for await (const _ of messages);
    }
    readOn().catch(() => {})
  }
await Promise.all(opening)
process.send?.('open')
process.once('disconnect', () => process.exit(0))

function opened(message: { readonly method?: string }): void {
  if (message.method !== 'notifications/events/active')
    throw new Error(`no stream: ${JSON.stringify(message)}`)
}
