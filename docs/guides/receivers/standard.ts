/**
 * Verification by Standard Webhooks in TypeScript, on Node 22.18 or later and the package `standardwebhooks`. The endpoint
 * needs "standard" in its signatures. What else a receiver does is in receiver.ts.
 *
 *   DESKWIRE_WEBHOOK_SECRET=whsec_… node standard.ts      several secrets: separated by commas
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const secrets = (process.env.DESKWIRE_WEBHOOK_SECRET ?? '').split(',').filter((secret) => secret !== '')
if (secrets.length === 0) throw new Error('Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.')
const webhooks = secrets.map((secret) => new Webhook(secret))

/** The event, if any of the secrets has signed it: while a rotation lasts, a receiver may know two. */
function verified(body: string, headers: IncomingHttpHeaders): { id: string; type: string } | undefined {
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers as Record<string, string>) as { id: string; type: string }
    } catch {
      // Another one may fit.
    }
  }
  return undefined
}

const server = createServer(async (request, response) => {
  const length = Number(request.headers['content-length'])
  if (!(length <= 1_048_576)) return response.writeHead(413).end()
  const event = verified(await text(request), request.headers) // the text as it came, before any parsing
  if (event === undefined) return response.writeHead(400).end()
  console.log(event.type, event.id)
  response.writeHead(204).end()
})
server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`listening on http://127.0.0.1:${address?.port}`)
})
