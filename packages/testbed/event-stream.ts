/** A client of server-sent events that parses them by itself, over a connection of its own. */
import { type IncomingMessage, request } from 'node:http'

export interface ServerEvent {
  readonly type: string
  readonly id: string | null
  readonly data: string
}

export interface EventReader extends AsyncDisposable {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The next event; null at the end of the stream, also one that was cut off. */
  next(): Promise<ServerEvent | null>
  /** Comments so far. */
  readonly beats: number
  /** The rest as text, of a response that is no stream. */
  text(): Promise<string>
  close(): void
  readonly response: IncomingMessage
}

export async function openEvents(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const sent = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end()
  })
  response.on('error', () => {})
  response.setEncoding('utf8')
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<string>
  const read = async () => {
    try {
      const { done, value } = await pieces.next()
      return done ? null : value
    } catch {
      return null
    }
  }
  let text = ''
  let beats = 0
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    response,
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const block = text.slice(0, end)
          text = text.slice(end + 2)
          const event = eventOf(block)
          if (event !== null) return event
          beats++
          continue
        }
        const piece = await read()
        if (piece === null) return null
        text += piece
      }
    },
    get beats() {
      return beats
    },
    async text() {
      for (let piece = await read(); piece !== null; piece = await read()) text += piece
      return text
    },
    close: () => void response.destroy(),
    async [Symbol.asyncDispose]() {
      response.destroy()
    },
  }
}

/** Null for a comment alone. */
function eventOf(block: string): ServerEvent | null {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'))
  if (lines.length === 0) return null
  const linesOf = (name: string) =>
    lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))
  return {
    type: linesOf('event')[0] ?? 'message',
    id: linesOf('id')[0] ?? null,
    data: linesOf('data').join('\n'),
  }
}
