/** The official MCP client, connected to a service with a key. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

type Connected = Client & AsyncDisposable

/** `legacy`: a client of the revisions before 2026-07-28. */
export async function mcpClient(
  url: string,
  token: string,
  era: 'modern' | 'legacy' = 'modern',
): Promise<Connected> {
  const client = new Client(
    { name: 'testbed', version: '1' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** The result of a tool that must succeed. */
export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the result has; a wrong guess fails them
): Promise<any> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
  if (isError) throw new Error(`${name}: ${JSON.stringify(content)}`)
  return structuredContent
}

/** The text of a refusal. */
export async function refusalOf(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: args })
  if (!isError) throw new Error(`${name} was not refused`)
  const [first] = content as { text: string }[]
  return first?.text ?? ''
}

/** The messages of an `events/stream`, as they come. */
export async function* eventStream(
  url: string,
  token: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever a message has; a wrong guess fails them
): AsyncGenerator<any, void> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const answer = await fetch(new URL('/mcp', url), {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'events/stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'events/stream', params: { ...params, _meta } }),
  })
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield await answer.json()
    return
  }
  let text = ''
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString()
    const lines = text.split('\n')
    text = lines.pop() as string
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
  }
}
