/**
 * The limit of delivery: a loop that signs and sends with undici, as a process of its own. Prints requests a second.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

const [origin, caFile, countText, endpointsText] = process.argv.slice(2) as [string, string, string, string]
const count = Number(countText)
const endpoints = Number(endpointsText)

const key = createSecretKey(Buffer.alloc(32, 7))
const body = JSON.stringify({ id: 'event', type: 'customer.created', data: { text: 'x'.repeat(960) } })
const pool = new Pool(origin, { connections: 128, connect: { ca: readFileSync(caFile) } })

let sent = 0
async function send(): Promise<void> {
  while (sent < count) {
    const n = sent++
    const timestamp = Math.floor(Date.now() / 1000)
    const signature = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')
    const answer = await pool.request({
      method: 'POST',
      path: `/hook/${n % endpoints}`,
      headers: {
        'content-type': 'application/json',
        'x-service-signature': `t=${timestamp},v1=${signature}`,
      },
      body,
    })
    await answer.body.dump()
  }
}

const since = performance.now()
await Promise.all(Array.from({ length: 128 }, send))
process.stdout.write(`${count / ((performance.now() - since) / 1000)}\n`)
await pool.close()
