/** LISTEN on a connection of its own. Notifications are hints: what is lost with a connection, a poll finds. */
import { Socket } from 'node:net'
import { Client } from 'pg'
import { type DatabaseAddress, keepAlive } from './pool.ts'

export interface Listener {
  close(): Promise<void>
}

/** How long after a lost connection the next one is tried, in milliseconds. */
const retryAfter = 1_000
/** How often a server that tells nothing is asked whether it is still there, in milliseconds. */
const askEvery = 10_000
/** How long a server may take to say anything, in milliseconds. */
const answerAfter = 5_000
/** How long it may take to say good-bye. */
const closeAfter = 1_000

/**
 * Calls `notify` with what every notification on the channel says, and with nothing after each time the connection is
 * made again: anything may have been told meanwhile. A server that vanishes in silence is found out within 15 s.
 */
export function listen(
  address: DatabaseAddress,
  channel: string,
  notify: (payload: string) => void,
  onLost: (error: Error) => void,
): Listener {
  let closed = false
  let client: Client | null = null
  let socket = new Socket()
  /** Until the next connection is tried, or this one is asked. */
  let timer: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const ownSocket = new Socket()
    socket = ownSocket
    const fresh = new Client({
      ...('url' in address ? { connectionString: address.url } : address),
      application_name: 'deskwire listener',
      ...keepAlive,
      connectionTimeoutMillis: answerAfter,
      query_timeout: answerAfter,
      stream: () => ownSocket,
    })
    client = fresh
    const lost = (error: Error) => {
      if (closed || client !== fresh) return
      client = null
      ownSocket.destroy()
      clearTimeout(timer)
      onLost(error)
      timer = setTimeout(reconnect, retryAfter)
    }
    fresh.on('error', lost)
    fresh.on('end', () => lost(new Error('the connection ended')))
    fresh.on('notification', ({ payload }) => notify(payload ?? ''))
    try {
      await fresh.connect()
      await fresh.query(`listen ${channel}`)
      notify('')
      askInTime()
    } catch (error) {
      lost(error as Error)
    }

    function askInTime(): void {
      if (closed || client !== fresh) return
      // What it listens to already, it may be told again.
      timer = setTimeout(() => fresh.query(`listen ${channel}`).then(askInTime, lost), askEvery)
    }
  }

  function reconnect(): void {
    if (!closed) connecting = connect()
  }

  let connecting = connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      const cut = setTimeout(() => socket.destroy(), closeAfter)
      await connecting
      await client?.end().catch(() => {})
      clearTimeout(cut)
    },
  }
}
