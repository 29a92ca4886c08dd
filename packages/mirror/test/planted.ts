/** Rows whose text the API would not take: a release before it looked has stored them. */
import type { Client } from '@deskwire/sdk'
import type { Pool } from 'pg'

/**
 * Changes the text of a stored row, as earlier releases took it: what they hold is counted as a commit would.
 */
export async function plant(
  pool: Pool,
  table: 'messages' | 'customers',
  id: string,
  from: string,
  to: string,
): Promise<void> {
  const { rowCount } = await pool.query(
    `with held as (select body, replace(body, $3, $4) as planted, organization_id from ${table} where id = $2),
      counted as (
        update commits c set content_digest = mod(
            c.content_digest + 2::numeric ^ 65 - content_term(held.body) + content_term(held.planted), 2::numeric ^ 64)
          from held where c.organization_id = held.organization_id and c.kind = $1)
      update ${table} t set body = held.planted from held where t.id = $2 and held.body <> held.planted`,
    [table.slice(0, -1), id, from, to],
  )
  if (rowCount !== 1) throw new Error(`${table} ${id} does not hold ${from}`)
}

/** A message whose attachment's URL has text that PostgreSQL cannot hold. */
export async function plantedMessage(pool: Pool, client: Client, text: string): Promise<string> {
  const { id: customerId } = await client.customers.create({ name: 'Ada' })
  const conversation = await client.conversations.create({ customerId, channel: 'email', subject: 'One' })
  const { id } = await client.messages.create({
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'Hello',
    attachments: [
      { fileName: 'a.png', url: 'https://files.example/HERE', contentType: 'image/png', sizeBytes: 1 },
    ],
  })
  await plant(pool, 'messages', id, 'HERE', text)
  return id
}
