/** LISTEN on its own connection. Notifications are hints: polls find what is lost with a connection. */
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { periodic } from '../kernel/periodic.ts'
import { clientWith } from './client.ts'
import { type DatabaseAddress, directAddress, keepAlive } from './pool.ts'

const Client = clientWith()

interface Listener {
  close(): Promise<void>
}

/** Milliseconds before reconnecting. */
const retryAfter = 1_000
/** Milliseconds between checks that a silent server is still there. */
const checkEvery = 10_000
/** Milliseconds that the server may take to respond. */
const respondsWithin = 5_000
const closeAfter = 1_000
const stopWithin = 2 * closeAfter

/**
 * Calls `notify` for each notification, and with an empty payload after each reconnect, as some may have been lost. A
 * server that disappears without closing is detected within 15 s.
 */
export function listen(
  address: DatabaseAddress,
  channel: string,
  notify: (payload: string) => void,
  onLost: (error: Error) => void,
): Listener {
  // A run lasts as long as a connection.
  const connections = periodic({
    every: retryAfter,
    stopWithin,
    run: (signal) => listenUntilLost(address, channel, notify, signal),
    onFailure: onLost,
  })
  connections.start()
  return { close: () => connections.stop() }
}

/** Rejects when the connection is lost, or soon after the signal. */
async function listenUntilLost(
  address: DatabaseAddress,
  channel: string,
  notify: (payload: string) => void,
  closing: AbortSignal,
): Promise<never> {
  const socket = new Socket()
  const direct = directAddress(address)
  const client = new Client({
    ...('url' in direct ? { connectionString: direct.url } : direct),
    application_name: 'deskwire listener',
    ...keepAlive,
    connectionTimeoutMillis: respondsWithin,
    query_timeout: respondsWithin,
    stream: () => socket,
  })
  const lost = new AbortController()
  client.on('error', (error) => lost.abort(error))
  client.on('end', () => lost.abort(new Error('the connection ended')))
  client.on('notification', ({ payload }) => notify(payload ?? ''))
  const over = AbortSignal.any([closing, lost.signal])
  let cut: NodeJS.Timeout | undefined
  const cutSoon = () => {
    cut = setTimeout(() => socket.destroy(), closeAfter)
  }
  closing.addEventListener('abort', cutSoon, { once: true })
  try {
    await client.connect()
    await client.query(`listen ${channel}`)
    notify('')
    for (;;) {
      await delay(checkEvery, undefined, { signal: over })
      // Repeating LISTEN for the same channel has no effect.
      await client.query(`listen ${channel}`)
    }
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error
  } finally {
    if (closing.aborted) await client.end().catch(() => {})
    socket.destroy()
    clearTimeout(cut)
    closing.removeEventListener('abort', cutSoon)
  }
}
