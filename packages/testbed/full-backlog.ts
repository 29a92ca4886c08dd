/** A port on the loopback that does not accept: its process is suspended and its queue full. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

interface FullBacklog {
  readonly port: number
  close(): Promise<void>
}

/** Accepts after so many milliseconds, and forwards to another port. */
interface Relief {
  readonly afterMs: number
  readonly port: number
}

const standStill = `
  const { connect, createServer } = require('node:net')
  const { parentPort, workerData: { afterMs, port } } = require('node:worker_threads')
  const server = createServer((socket) => {
    const next = connect(port, '127.0.0.1')
    for (const end of [socket, next]) end.on('error', () => {})
    socket.pipe(next).pipe(socket)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, afterMs)
  })
`

/** More than its queue holds: further connections are dropped, as by a host that is down. */
const fillers = 8

export async function startFullBacklog(relief?: Relief): Promise<FullBacklog> {
  const worker = new Worker(standStill, { eval: true, workerData: relief ?? { afterMs: Infinity, port: 0 } })
  const [port] = (await once(worker, 'message')) as [number]
  const sockets: Socket[] = []
  for (let n = 0; n < fillers; n++) sockets.push(connect(port, '127.0.0.1').on('error', () => {}))
  await once(sockets[0] as Socket, 'connect')
  // Those that were dropped would be sent again, and take the places that a relief makes.
  if (relief !== undefined) for (const socket of sockets) if (socket.connecting) socket.destroy()
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await worker.terminate()
    },
  }
}
