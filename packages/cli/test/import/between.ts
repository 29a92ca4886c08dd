/** Stands between a client and the service, and does to chosen calls what a network does. */
import { forward, startHttpServer } from '../../../testbed/loopback.ts'

/** What becomes of a call: it passes; it is answered in the service's place; its answer never arrives. */
type Fate = 'pass' | 'swallow' | { readonly status: number; readonly retryAfter?: string }

/** `fate` is asked for each call, by its number from 0. `answered` counts calls that the service has answered, also in vain. */
export async function startBetween(service: string, fate: (call: number) => Fate) {
  let calls = 0
  let answered = 0
  const server = await startHttpServer(async (request, response) => {
    const how = fate(calls++)
    if (typeof how === 'object') {
      const problem = { type: 't', title: 't', status: how.status, code: 'unavailable', detail: 'Later.' }
      const headers = { 'content-type': 'application/problem+json', 'retry-after': how.retryAfter ?? '0' }
      response.writeHead(how.status, headers).end(JSON.stringify(problem))
      return
    }
    const answer = await forward(request, service).catch(() => null)
    if (answer === null) return void response.destroy()
    answered++
    if (how === 'swallow') return
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.text)
  })
  return { ...server, answered: () => answered }
}
