/** A deployment that is wrong in one way: our service behind a proxy that spoils requests or answers. */
import { forward, startHttpServer } from '../../../testbed/loopback.ts'

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

export function startProxy(target: string, fault: Fault): ReturnType<typeof startHttpServer> {
  return startHttpServer(async (request, response) => {
    const url = new URL(request.url ?? '/', target)
    const asked = { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams }
    const path = fault.ask?.(asked) ?? url.pathname
    const search = asked.query.size === 0 ? '' : `?${asked.query}`
    const { status, text: original } = await forward(request, target, path + search)
    const answered = { status, json: original === '' ? null : JSON.parse(original) }
    const before = JSON.stringify(answered.json)
    fault.answer?.(asked, answered)
    const after = JSON.stringify(answered.json)
    // Bytes that nothing was done to stay as they are.
    const text = after === before ? original : after
    response.writeHead(answered.status, { 'content-type': 'application/json' })
    response.end(answered.status === 204 ? undefined : text)
  })
}
