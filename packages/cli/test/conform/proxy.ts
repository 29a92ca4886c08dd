/** A deployment that is wrong in one way: our service behind a proxy that spoils requests or answers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

export interface Answered {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a fault changes whatever there is
  json: any
}

/** What is wrong with it. */
export interface Fault {
  /** Changes what is asked, in place; the path by what it answers. */
  readonly ask?: (asked: Asked) => string | undefined
  /** Changes what is answered, in place. */
  readonly answer?: (asked: Asked, answered: Answered) => void
}

interface Proxy extends AsyncDisposable {
  readonly url: string
}

export async function startProxy(target: string, fault: Fault): Promise<Proxy> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '/', target)
    const asked = { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams }
    const path = fault.ask?.(asked) ?? url.pathname
    const search = asked.query.size === 0 ? '' : `?${asked.query}`
    const passed = await fetch(`${target}${path}${search}`, {
      method: asked.method,
      headers: {
        authorization: request.headers.authorization ?? '',
        ...(chunks.length === 0 ? {} : { 'content-type': 'application/json' }),
      },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    const original = await passed.text()
    const answered = { status: passed.status, json: original === '' ? null : JSON.parse(original) }
    const before = JSON.stringify(answered.json)
    fault.answer?.(asked, answered)
    const after = JSON.stringify(answered.json)
    // Bytes that nothing was done to stay as they are.
    const text = after === before ? original : after
    response.writeHead(answered.status, { 'content-type': 'application/json' })
    response.end(answered.status === 204 ? undefined : text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
