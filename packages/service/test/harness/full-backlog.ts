/** A port on loopback that never accepts: its process listens, stands still, and its queue is full. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface FullBacklog {
  readonly port: number
  close(): Promise<void>
}

const standStill = `
  const { parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`

/** More than a queue of one holds: the system drops what comes after, as it does for a machine that is not there. */
const fillers = 8

export async function startFullBacklog(): Promise<FullBacklog> {
  const worker = new Worker(standStill, { eval: true })
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
