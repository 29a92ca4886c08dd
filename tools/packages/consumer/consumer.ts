/**
 * A program with the SDK, through each of its entry points. It runs in Node and in browsers: it is compiled, bundled
 * and run in projects with the tarball alone.
 */
import { createClient, DeskwireError, MemoryCopy, type Ticket, verify } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { signatureHeader } from '@deskwire/sdk/signature'
import { testDelivery } from '@deskwire/sdk/testing'

/** Writes, follows and verifies. Returns the results as one line. */
export async function consume(baseUrl: string, apiKey: string): Promise<string> {
  const client = createClient({ baseUrl, apiKey })
  const customer = await client.customers.create({ name: 'Ada Lovelace' })
  const batch = await client.tickets.batch([
    { customerId: customer.id, subject: 'The engine halts' },
    { customerId: customer.id, subject: 'Cards are jammed', priority: 'high' },
  ])

  const copy = new MemoryCopy<Ticket>()
  let exact = false
  for await (const page of client.tickets.sync()) {
    for (const change of page.changes) await copy.apply(change)
    if (page.checkpoint) exact = copy.verify(page.checkpoint).exact
  }
  let exported = 0
  for await (const _change of client.tickets.export()) exported += 1

  const refused = await client.customers
    .get('00000000-0000-7000-8000-000000000000')
    .then(() => 'found')
    .catch((error: unknown) => (error instanceof DeskwireError ? error.code : 'thrown'))

  const secret = 'a secret of both'
  const { body, headers } = await testDelivery({ type: 'ticket.created' }, secret)
  const { type: event } = await verify(body, headers, secret)

  // JSON.parse of some releases reads the second and third of these with names of the first.
  const texts = ['\\\\', '\\n', '\\u00e9'].map((name) => `{"first":1,"${name}":2}`)
  const names = texts.flatMap((text) => Object.keys(readJson<object>(text)).slice(1))
  const asWritten = names.join() === '\\,\n,é'
  return [
    batch.created,
    copy.rows.size,
    exact,
    exported,
    refused,
    event,
    typeof signatureHeader,
    asWritten,
  ].join(' ')
}
