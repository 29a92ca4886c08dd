/** Stands between a client and the service, and does to chosen calls what a network does. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What becomes of a call: it passes; it is answered in the service's place; its answer never arrives. */
type Fate = 'pass' | 'swallow' | { readonly status: number; readonly retryAfter?: string }

interface Between extends AsyncDisposable {
  readonly url: string
  /** Calls that the service has answered, those whose answer was swallowed included. */
  answered(): number
}

/** `fate` is asked for each call, by its number from 0. */
export async function startBetween(service: string, fate: (call: number) => Fate): Promise<Between> {
  let calls = 0
  let answered = 0
  const server = createServer((request, response) => {
    void carry(request, response, fate(calls++)).catch(() => response.destroy())
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered: () => answered,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((settle) => server.close(settle))
    },
  }

  async function carry(request: IncomingMessage, response: ServerResponse, how: Fate): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (typeof how === 'object') {
      const problem = { type: 't', title: 't', status: how.status, code: 'unavailable', detail: 'Later.' }
      const headers = { 'content-type': 'application/problem+json', 'retry-after': how.retryAfter ?? '0' }
      response.writeHead(how.status, headers).end(JSON.stringify(problem))
      return
    }
    const { authorization = '', 'idempotency-key': key = '' } = request.headers
    const answer = await fetch(service + request.url, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': String(key) },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    const text = await answer.text()
    answered++
    if (how === 'swallow') return
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }
}
