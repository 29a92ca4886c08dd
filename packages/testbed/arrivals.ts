/** A test's own endpoints behind one TLS receiver, each with a script, and everything that arrived at them. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify, verifySignature } from '@deskwire/sdk/signature'
import { deliveryTuning } from '../service/src/delivery/tuning.ts'
import { createAuthority } from './certificates.ts'
import { answer, startReceiver } from './receiver.ts'
import type { Environment } from './services.ts'
import { verdictOf } from './verdict.ts'

/** The status for the nth request, from 1; null: no response, ever. */
type Script = (nth: number) => number | null | Promise<number | null>

export interface Arrival {
  readonly endpoint: string
  readonly eventId: string
  readonly signature: string | undefined
  readonly traceparent: string | undefined
  readonly body: Buffer
  /** By `performance.now()`. */
  readonly at: number
  /** Null until it is answered. */
  status: number | null
}

const { drain, concurrency } = deliveryTuning

/**
 * The most repeated deliveries of one endpoint after its worker was killed: those whose results were being written, and
 * those sent meanwhile.
 */
export const repeatedAtMost =
  drain.completeAt + concurrency.perEndpoint + drain.claimSizeOfBacklog + drain.refillBelow

export interface Hook {
  readonly name: string
  readonly id: string
  readonly secret: string
  readonly events: readonly string[]
}

export interface Hooks extends AsyncDisposable {
  /** `https://ADDRESS:PORT/`; the path is the endpoint's name. */
  readonly url: string
  /** PEM file of the authority that issued its certificate. */
  readonly ca: string
  /** Settings for services that deliver here. */
  readonly settings: Environment
  readonly arrivals: readonly Arrival[]
  readonly inFlight: number
  of(endpoint: string): readonly Arrival[]
  /** The most requests that were open at the endpoint at the same time. */
  maxAtOnce(endpoint: string): number
  /** Ids of events with a valid signature of this secret. */
  received(secret: string): Promise<ReadonlySet<string>>
  /** How the endpoint answers from now on; default: 200. */
  script(endpoint: string, script: Script): void
  register(
    service: { readonly url: string; readonly token: string },
    endpoint: string,
    events: readonly string[],
  ): Promise<Hook>
}

/** `await using hooks = await startHooks()`, by default on the loopback. */
export async function startHooks(address = '127.0.0.1'): Promise<Hooks> {
  const authority = createAuthority()
  // Services that run as other users read it too.
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-hooks-'))
  await chmod(directory, 0o755)
  const ca = join(directory, 'ca.pem')
  await writeFile(ca, authority.ca)
  const receiver = await startReceiver({ ...authority.issue(['localhost', address]), host: address })
  const url = `https://${address}:${receiver.port}/`
  const scripts = new Map<string, Script>()
  const arrivals: Arrival[] = []
  const counts = new Map<string, number>()
  const open = new Map<string, { arrivals: Set<Arrival>; most: number }>()
  let inFlight = 0

  receiver.will(async (socket, { path, headers, body }, below) => {
    const endpoint = path.slice(1)
    const nth = (counts.get(endpoint) ?? 0) + 1
    counts.set(endpoint, nth)
    const arrival: Arrival = {
      endpoint,
      eventId: headers['x-service-event-id'] ?? '',
      signature: headers['x-service-signature'],
      traceparent: headers.traceparent,
      body,
      at: performance.now(),
      status: null,
    }
    arrivals.push(arrival)
    inFlight++
    const at = open.get(endpoint) ?? { arrivals: new Set<Arrival>(), most: 0 }
    open.set(endpoint, at)
    at.arrivals.add(arrival)
    at.most = Math.max(at.most, at.arrivals.size)
    // Also by the end of its connection, as a worker that is killed waits for no answer.
    const over = () => at.arrivals.delete(arrival)
    socket.once('close', over)
    const script = scripts.get(endpoint)
    const status = script === undefined ? 200 : await script(nth)
    inFlight--
    arrival.status = status
    if (status === null) return
    over()
    socket.off('close', over)
    answer(status)(socket, { method: 'POST', path, headers, body, connection: 0, earlier: 0 }, below)
  })

  return {
    url,
    ca,
    settings: { DESKWIRE_TARGET_CA: ca, DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8' },
    arrivals,
    get inFlight() {
      return inFlight
    },
    of: (endpoint) => arrivals.filter((arrival) => arrival.endpoint === endpoint),
    maxAtOnce: (endpoint) => open.get(endpoint)?.most ?? 0,
    async received(secret) {
      const ids = new Set<string>()
      for (const { eventId, body, signature } of arrivals)
        if ((await verdictOf(verifySignature(body, signed(signature), secret))).ok) ids.add(eventId)
      return ids
    },
    script: (endpoint, script) => void scripts.set(endpoint, script),
    async register(service, name, events) {
      const response = await fetch(`${service.url}/v1/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: url + name, events }),
      })
      const text = await response.text()
      if (response.status !== 201) throw new Error(`${name} was refused: ${response.status} ${text}`)
      const { id, secret } = JSON.parse(text) as { id: string; secret: string }
      return { name, id, secret, events }
    },
    async [Symbol.asyncDispose]() {
      await receiver.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Unnecessary arrivals: after a success, or after no response. */
export function duplicates(arrivals: readonly Arrival[]): number {
  const refused = arrivals.filter(({ status }) => status !== null && status >= 300).length
  const deliveries = new Set(arrivals.map(({ endpoint, eventId }) => `${endpoint} ${eventId}`))
  const needless = arrivals.length - refused - deliveries.size
  return Math.max(0, needless)
}

const signed = (signature: string | undefined) => ({ 'x-service-signature': signature })

/** What is wrong with an arrival's signature or envelope; null: nothing. `tolerance` in seconds. */
export async function faultOf(arrival: Arrival, hook: Hook, tolerance = 300): Promise<string | null> {
  const verdict = await verdictOf(verify(arrival.body, signed(arrival.signature), hook.secret, { tolerance }))
  if (!verdict.ok) return `${arrival.eventId} at ${hook.name}: ${verdict.reason}`
  if (verdict.event.id !== arrival.eventId) return `${arrival.eventId} came as ${verdict.event.id}`
  if (!hook.events.includes(verdict.event.type)) return `${hook.name} got ${verdict.event.type}`
  return null
}
