/** An attacker in a process of its own: drives attacks until it is stopped, and counts responses. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createPool } from '../../packages/service/src/db/pool.ts'
import type { AttackerOrder, AttackerReport } from './attacker.ts'
import { type Arms, type AttackName, attackOf } from './attacks.ts'
import { connectPlain, type PlainClient, type PlainRequest } from './plain-client.ts'
import { setPriorityOfAll } from './priority.ts'

let going = true
const answers: Record<string, number> = {}
const loops: Promise<void>[] = []
const sockets = new Set<{ destroy(): void }>()

const report = (message: AttackerReport) => process.send?.(message)
const count = (what: string) => {
  answers[what] = (answers[what] ?? 0) + 1
}

process.on('message', async (order: AttackerOrder) => {
  if (order.do === 'stop') {
    going = false
    // An attacker does not close connections properly.
    for (const socket of sockets) socket.destroy()
    await Promise.allSettled(loops)
    report({ answers })
    return
  }
  const { foreign } = attackOf(order.attacks[0] as AttackName)
  // In reality another machine: its own CPU time must not slow the attacked service.
  if (foreign === undefined) setPriorityOfAll(constants.priority.PRIORITY_LOW)
  else burden(foreign, order.arms)
  for (const name of order.attacks) {
    const { connections, request, holds, deaf, disconnects, deletes } = attackOf(name)
    for (let n = 0; n < connections; n++) {
      const next = () => request(order.arms, n)
      const occupies = holds || deaf || disconnects
      loops.push(occupies ? occupy(order.arms, next, { holds, disconnects }) : ask(order.arms, next))
    }
    if (deletes !== undefined) loops.push(remove(order.arms, deletes))
  }
  report({ answers })
})

/** One request after another on one connection; a new one where it was closed. */
async function ask({ url }: Arms, next: () => PlainRequest): Promise<void> {
  let client: PlainClient | null = null
  while (going) {
    try {
      if (client === null) {
        client = await connectPlain(url)
        sockets.add(client)
      }
      const status: number = await client.send(next())
      count(String(status))
      // Obeys for a moment: a busy loop of refusals would measure this process.
      if (status === 429 || status === 503) await delay(20)
    } catch {
      count('cut')
      if (client !== null) sockets.delete(client)
      client?.destroy()
      client = null
      await delay(20)
    }
  }
}

/**
 * Connections that send all but the last byte or read no response, until they are closed; or disconnect once all is
 * sent.
 */
async function occupy(
  { url }: Arms,
  next: () => PlainRequest,
  { holds = false, disconnects = false }: { holds?: boolean | undefined; disconnects?: boolean | undefined },
): Promise<void> {
  const { hostname, port } = new URL(url)
  while (going) {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
    sockets.add(socket)
    socket.on('error', () => {})
    const closed = once(socket, 'close')
    if (!holds) socket.pause()
    const { method, path, headers, body } = next()
    const fields = Object.entries({ host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}`)
    const length = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    const text = `${[`${method} ${path} HTTP/1.1`, ...fields, ...length].join('\r\n')}\r\n\r\n${body ?? ''}`
    socket.write(holds ? text.slice(0, -1) : text, () => disconnects && socket.destroy())
    if (holds) socket.on('data', (chunk: Buffer) => count(chunk.toString('latin1', 9, 12)))
    await Promise.race([closed, delay(10_000)])
    count(socket.closed ? 'cut' : 'held')
    socket.destroy()
    sockets.delete(socket)
    await delay(20)
  }
}

/** Creates and deletes a customer with so many tickets, repeatedly. */
async function remove(
  { url, tokens }: Arms,
  { tickets, apart }: { readonly tickets: number; readonly apart: number },
): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(String(response.status))
    return text === '' ? {} : JSON.parse(text)
  }
  while (going) {
    try {
      const { id: customerId } = await call('POST', '/v1/customers', { name: 'Ada' })
      const items = Array.from({ length: tickets }, (_, n) => ({ customerId, subject: `Ticket ${n}` }))
      await call('POST', '/v1/tickets/batch', { items })
      await call('DELETE', `/v1/customers/${customerId}`)
      count('deleted')
      for (let waited = 0; going && waited < apart; waited += 100) await delay(100)
    } catch (error) {
      count(`deletion: ${(error as Error).message}`)
      await delay(100)
    }
  }
}

/** Threads that count, with the service's priority, and database connections that do. */
function burden(
  { threads, statements }: { threads: number; statements: number },
  { connection }: Arms,
): void {
  for (let n = 0; n < threads; n++) {
    const thread = new Worker('for (;;);', { eval: true })
    sockets.add({ destroy: () => void thread.terminate() })
  }
  const pool = createPool(connection, { max: statements, onIdleError: () => {} })
  const counting = async () => {
    while (going) {
      await pool.query('select count(*) from generate_series(1, 300000)')
      count('counted')
    }
  }
  for (let n = 0; n < statements; n++) loops.push(counting())
}

process.on('disconnect', () => process.exit(0))
