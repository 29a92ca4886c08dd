/** A proxy to the database that can vanish as a host does: connections stay open, and nothing passes. */
import { createConnection, createServer, type Socket } from 'node:net'

export interface VanishingDatabase extends AsyncDisposable {
  /** One connection after another, over TCP. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** As a URL; `parameters` are pg's. */
  url(parameters?: Readonly<Record<string, string>>): string
  /** From now on nothing passes, on existing and new connections. */
  vanish(): void
  /** From now on connections are closed after the first message, as by a server that is not up yet. */
  turnAway(): void
  /** New connections pass again. Existing ones stay dead. */
  comeBack(): void
  /** Accepted connections that lead nowhere. */
  readonly dead: number
}

/** `await using way = await vanishingDatabase(database.connection)`. */
export async function vanishingDatabase(to: {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}): Promise<VanishingDatabase> {
  const target = to.host.startsWith('/')
    ? { path: `${to.host}/.s.PGSQL.${to.port}` }
    : { host: to.host, port: to.port }
  const alive = new Map<Socket, Socket>()
  const all = new Set<Socket>()
  let gone = false
  let closed = false
  const swallow = (socket: Socket) => socket.unpipe().resume()
  const server = createServer((near) => {
    all.add(near)
    near.on('error', () => {})
    near.once('close', () => {
      all.delete(near)
      alive.get(near)?.destroy()
      alive.delete(near)
    })
    if (gone) {
      swallow(near)
      return
    }
    if (closed) {
      near.once('data', () => near.end())
      return
    }
    const far = createConnection(target)
    alive.set(near, far)
    far.on('error', () => near.destroy())
    far.once('close', () => {
      // A host that is gone does not report the end either.
      if (alive.has(near)) near.destroy()
    })
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const connection = { host: '127.0.0.1', port, user: to.user, database: to.database }
  return {
    connection,
    url: (parameters = {}) =>
      `postgres://${to.user}@127.0.0.1:${port}/${to.database}?${new URLSearchParams(parameters)}`,
    vanish() {
      gone = true
      for (const [near, far] of alive) {
        swallow(near)
        swallow(far)
        alive.delete(near)
        far.destroy()
      }
    },
    turnAway() {
      closed = true
      for (const near of alive.keys()) near.destroy()
    },
    comeBack() {
      gone = false
      closed = false
    },
    get dead() {
      return all.size - alive.size
    },
    async [Symbol.asyncDispose]() {
      for (const socket of all) socket.destroy()
      for (const socket of alive.values()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
