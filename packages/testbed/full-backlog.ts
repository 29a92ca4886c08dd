/** A port on loopback that does not accept: its process listens, stands still, and its queue is full. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

interface FullBacklog {
  readonly port: number
  close(): Promise<void>
}

/** After so many milliseconds it accepts after all, and hands on to another port. */
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

/** More than a queue of one holds: the system drops what comes after, as it does for a machine that is not there. */
const fillers = 8

export async function startFullBacklog(relief?: Relief): Promise<FullBacklog> {
  const worker = new Worker(standStill, { eval: true, workerData: relief ?? { afterMs: Infinity, port: 0 } })
  const [port] = (await once(worker, 'message')) as [number]
  const sockets: Socket[] = []
  for (let n = 0; n < fillers; n++) sockets.push(connect(port, '127.0.0.1').on('error', () => {}))
  await once(sockets[0] as Socket, 'connect')
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await worker.terminate()
    },
  }
}
