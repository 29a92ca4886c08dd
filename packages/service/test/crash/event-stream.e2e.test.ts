/** A stream of events under kills of connections, of its service and of its client: nothing is lost, repeated or moved. */
import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openEvents } from '../../../testbed/event-stream.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type Checkpoint, checkpointOf, place, type StreamRecord } from '../../../testbed/follower.ts'
import { dice } from '../../../testbed/load.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

const kills = 100
/** One kill in so many is of the service, with SIGKILL; the others are of the connection. */
const serviceKillOneIn = 20

/**
 * A proxy that passes on pieces of any size, and breaks a connection after so many bytes. `limit`: of the next
 * connection.
 */
async function startProxy(target: () => string, limit: () => number, roll: () => number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target()).port), '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    client.pipe(upstream)
    client.on('close', end)
    upstream.on('close', end)
    let left = limit()
    upstream.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length && left > 0; ) {
        const size = Math.min(1 + Math.floor(roll() * 3_000), left, bytes.length - at)
        client.write(bytes.subarray(at, at + size))
        at += size
        left -= size
      }
      if (left === 0) setImmediate(end)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Creates, changes and deletes customers until it is stopped. */
function startWriter(api: Api) {
  let stopping = false
  async function write() {
    const ids: string[] = []
    for (let n = 0; !stopping; n++) {
      const { json } = await api.post('/v1/customers', { name: `Ada ${n}`, company: 'x'.repeat(n % 200) })
      ids.push(json.id)
      if (n % 3 === 0)
        await api.patch(`/v1/customers/${ids[Math.floor(ids.length / 2)]}`, { company: `${n}` })
      if (n % 7 === 0) await api.delete(`/v1/customers/${ids.shift()}`)
    }
  }
  const writing = Promise.all([write(), write()])
  return async () => {
    stopping = true
    await writing
  }
}

test(`${kills} kills of connections and of the service lose no record, repeat none and move none`, async () => {
  const roll = dice(7)
  await using service = await testService()
  await using services = createServices()
  const { api } = service
  const start = () =>
    services.serve(['--role', 'api', '--database-url', socketUrl(service.database.connection)], {
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DESKWIRE_RATE_LIMIT: '0',
    })
  let reading = await start()
  let left = kills
  await using proxy = await startProxy(
    () => reading.url,
    () => (left > 0 ? 300 + Math.floor(roll() ** 3 * 60_000) : Number.POSITIVE_INFINITY),
    roll,
  )
  const stopWriter = startWriter(api)
  const seen: StreamRecord[] = []
  const copy = new Map<string, string>()
  const faults: string[] = []
  let proof: Checkpoint | null = null
  let lastId: string | null = null

  function take(data: string) {
    for (const row of JSON.parse(data).data as Record<string, string>[]) {
      const removed = row.object === 'removed'
      const at = String(removed ? row.removedAt : row.updatedAt)
      const record = { id: String(row.id), at, removed, body: JSON.stringify(row) }
      const last = seen.at(-1)
      if (last !== undefined && place(record) <= place(last))
        faults.push(`${place(record)} after ${place(last)}`)
      seen.push(record)
      if (removed) copy.delete(record.id)
      else copy.set(record.id, record.body)
    }
  }

  /** Reads one stream until it is cut off, or `isEnough`. */
  async function read(isEnough: () => boolean) {
    const headers = {
      authorization: `Bearer ${api.token}`,
      ...(lastId !== null && { 'last-event-id': lastId }),
    }
    const stream = await openEvents(
      `${proxy.url}/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=20`,
      headers,
    ).catch(() => null)
    if (stream === null) return
    await using open = stream
    if (open.status !== 200) return
    for (let event = await open.next(); event !== null; event = await open.next()) {
      if (event.type === 'page') take(event.data)
      if (event.type === 'checkpoint') {
        const { customer } = JSON.parse(event.data)
        const held = checkpointOf(copy.values())
        if (JSON.stringify(held) !== JSON.stringify(customer)) faults.push(`${lastId}: a checkpoint differs`)
        proof = customer
      }
      lastId = event.id ?? lastId
      if (isEnough()) return
    }
  }

  for (; left > 0; left--) {
    if (left % serviceKillOneIn !== 0) {
      await read(() => false)
      continue
    }
    const pages = seen.length + Math.floor(roll() * 200)
    await read(() => seen.length > pages)
    await reading.end('SIGKILL')
    reading = await start()
  }
  await stopWriter()
  const { json } = await api.get('/v1/customers?updatedAfter=9999-01-01T00:00:00Z')
  const { checkpoint } = json.pagination
  await eventually('it has caught up', async () => {
    await read(() => JSON.stringify(proof) === JSON.stringify(checkpoint))
    return JSON.stringify(proof) === JSON.stringify(checkpoint)
  })
  console.log(`${kills} kills, ${seen.length} records, ${copy.size} rows`)
  expect(faults).toEqual([])
  expect(checkpointOf(copy.values())).toEqual(checkpoint)
  expect(seen.length).toBeGreaterThan(kills)
})
