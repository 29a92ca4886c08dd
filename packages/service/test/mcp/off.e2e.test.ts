/** What the setting costs, in real processes. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { call, mcpClient } from '../../../testbed/mcp-client.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

const watching = fileURLToPath(new URL('../telemetry/watch-loading.fixture.mjs', import.meta.url))
const asked = 'asked for @modelcontextprotocol/'

test.each(['off', 'on'])(
  'with DESKWIRE_MCP %s, nothing of the protocol is loaded unless a client calls',
  async (mcp) => {
    await using service = await testService()
    await using services = createServices()
    const database = ['--database-url', socketUrl(service.database.connection)]
    const started = await services.serve(['--role', 'all', ...database], {
      NODE_OPTIONS: `--import=${watching}`,
      DESKWIRE_MCP: mcp,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
    const { token } = service.api
    expect((await fetch(new URL('/v1/tickets', started.url), bearer(token))).status).toBe(200)
    expect(started.output.all).not.toContain(asked)
    if (mcp === 'on') {
      await using client = await mcpClient(started.url, token)
      expect(await call(client, 'find', { kind: 'tickets' })).toMatchObject({ total: 0 })
      expect(started.output.all).toContain(asked)
    } else {
      const answer = await fetch(new URL('/mcp', started.url), { ...bearer(token), method: 'POST' })
      expect(answer.status).toBe(404)
      expect(started.output.all).not.toContain(asked)
    }
    expect(started.output.all).not.toContain('asked for jose')
    expect((await started.end('SIGTERM')).code).toBe(0)
  },
)

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
