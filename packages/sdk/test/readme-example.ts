import { createClient, MemoryCopy, type Ticket } from '@deskwire/sdk'

const client = createClient() // reads DESKWIRE_URL and DESKWIRE_API_KEY

const customer = await client.customers.create({ name: 'Ada Lovelace' })
await client.tickets.create({ customerId: customer.id, subject: 'The engine halts' })

const copy = new MemoryCopy<Ticket>()
let cursor: string | undefined

const catchUp = async () => {
  for await (const page of client.tickets.sync({ cursor })) {
    for (const change of page.changes) await copy.apply(change)
    cursor = page.cursor
    if (page.checkpoint) console.log(copy.rows.size, 'tickets, exact:', copy.verify(page.checkpoint).exact)
  }
}

await catchUp() // everything there is
await catchUp() // what changed since, this time and any other
