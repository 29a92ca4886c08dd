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
