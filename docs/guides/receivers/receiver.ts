/**
 * A complete receiver in TypeScript, on Node 22.18 or later and @deskwire/sdk.
 *
 *   DESKWIRE_WEBHOOK_SECRET=whsec_… node receiver.ts      several secrets: separated by commas
 *   node receiver.ts check < signature.json               judges the published vectors
 */
import { createServer } from 'node:http'
import { buffer, json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { SignatureError, verify, verifySignature, type WebhookEvent } from '@deskwire/sdk'

/** Do the work here. Throw, and the event comes again in a minute. */
async function handle(event: WebhookEvent): Promise<void> {
  console.log(event.type, event.id)
}

/** Deskwire waits ten seconds for an answer. */
const answerWithinMs = 8_000

/**
 * By event: deliveries are repeated, and those of one event have one id, that of X-Service-Event-Id. The body has it too, and
 * there it is signed. In production: a table with a unique key, written in the transaction of the work.
 */
const begun = new Map<string, Promise<void>>()

/** The work of an event, which is done once: a repetition waits for what has begun. What failed is started over. */
function once(event: WebhookEvent): Promise<void> {
  const known = begun.get(event.id)
  if (known !== undefined) return known
  const work = handle(event)
  begun.set(event.id, work)
  work.catch(() => begun.delete(event.id))
  return work
}

/** The status to answer with, in time: work that takes longer goes on, and the event's next delivery finds it done. */
async function statusOf(event: WebhookEvent): Promise<number> {
  const late = setTimeout(answerWithinMs, 503, { ref: false })
  return Promise.race([once(event).then(() => 204), late])
}

function serve(): void {
  const secrets = (process.env.DESKWIRE_WEBHOOK_SECRET ?? '').split(',').filter((secret) => secret !== '')
  if (secrets.length === 0) throw new Error('Set DESKWIRE_WEBHOOK_SECRET to the secret of the endpoint.')

  const server = createServer(async (request, response) => {
    try {
      const length = Number(request.headers['content-length'])
      if (!(length <= 1_048_576)) return response.writeHead(413).end()
      const body = await buffer(request) // the bytes as they came, before any parsing
      const event = await verify(body, request.headers, secrets)
      response.writeHead(await statusOf(event)).end()
    } catch (error) {
      if (error instanceof SignatureError) return response.writeHead(400).end(error.message)
      console.error(error)
      response.writeHead(500).end() // anything but a 2xx: it is sent again
    }
  })
  server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') console.log(`listening on http://127.0.0.1:${address?.port}`)
  })
}

interface Vector {
  secrets: string[]
  header: string | null
  body: string
  now: number
  tolerance: number
}

async function check(): Promise<void> {
  const vectors = (await json(process.stdin)) as Vector[]
  for (const { body, header, secrets, now, tolerance } of vectors) {
    const bytes = Buffer.from(body, 'base64')
    const headers = { 'x-service-signature': header ?? '' }
    const verdict = await verifySignature(bytes, headers, secrets, { now, tolerance }).then(
      () => 'accept',
      () => 'reject',
    )
    console.log(verdict)
  }
}

if (process.argv[2] === 'check') await check()
else serve()
