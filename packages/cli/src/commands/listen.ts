import type { WebhookWithSecret } from '@deskwire/sdk'
import { clientHelp, clientOf, readTarget, type Target } from '../client.ts'
import type { Command } from '../commands.ts'
import { parseFlags } from '../flags.ts'
import { defaultDirectory, type KnownAuthority, keepAuthority } from '../listen/authority.ts'
import { forward, readForwardUrl, statusFor } from '../listen/forward.ts'
import { type Found, keepRegistered } from '../listen/keep-registered.ts'
import { humanLine, jsonLine } from '../listen/lines.ts'
import { type Received, startReceiver } from '../listen/receiver.ts'
import { register, serverSettings, tryWithPing, unregister } from '../listen/register.ts'
import { eventTypes } from '../triggers.ts'
import { UsageError } from '../usage-error.ts'

const defaultPort = 8443

export const listenCommand: Command = {
  help: () => `deskwire listen: an HTTPS receiver on 127.0.0.1 that verifies each delivery, prints it and answers 204,
or passes it on to an application and answers what that does.

  --forward-to URL       pass each delivery on, for example to http://localhost:3000/hook
  --secret whsec_…       the secret of the endpoint (DESKWIRE_WEBHOOK_SECRET)
  --events TYPE,…        with --url: what to subscribe to (all of them)
  --port N               where to listen (${defaultPort}; with --url any free port)
  --dir DIR              keeps the receiver's certificate authority (${defaultDirectory()})
  --ca                   print the path of the authority's certificate, made if need be, and end
  --json                 one JSON object a line
${clientHelp}
With --url and --key it registers an endpoint for itself, learns the secret, and deletes the endpoint on Ctrl-C. Without,
register https://127.0.0.1:PORT/ yourself and give --secret.

With --forward-to the application gets the same bytes and headers as from the service, so it verifies the signature with the
secret that is printed at the start. It is printed what it answered, a line an event, and the service is answered alike (502 when
the application did not answer): what fails is tried again as anywhere. Pings are answered here. When the endpoint is deleted it is registered anew; when
the service does not answer, that is said, and waited for.

A service delivers to public addresses only. For this receiver, start it with
  DESKWIRE_TRUSTED_TARGETS=127.0.0.0/8 DESKWIRE_TARGET_CA="$(deskwire listen --ca)" deskwire serve

Exit codes: 0 when it was stopped; 1 when the service refuses the key or cannot deliver here; 2 for a wrong command line.

Example:
  deskwire listen --url http://127.0.0.1:8080/v1 --key dwk_… --events ticket.created --forward-to http://localhost:3000/hook
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: ['forward-to', 'secret', 'events', 'port', 'dir', 'url', 'key'],
      switches: ['json', 'ca'],
    })
    const directory = texts.dir ?? defaultDirectory()
    if (switches.ca) {
      process.stdout.write(`${(await keepAuthority(directory)).caPath}\n`)
      return
    }
    const secret = texts.secret ?? (process.env.DESKWIRE_WEBHOOK_SECRET || null)
    if (secret !== null && !/^whsec_.+$/.test(secret)) {
      throw new UsageError(
        '--secret: what is given is not accepted; it must be a secret as it was shown: whsec_…',
      )
    }
    const target = secret === null || texts.url !== undefined ? readTarget(texts) : null
    if (target !== null && texts.secret !== undefined) {
      throw new UsageError('--secret and --url do not go together: with --url the secret is learned')
    }
    if (target === null && texts.events !== undefined)
      throw new UsageError('--events needs --url and --key as well')
    const events = (texts.events ?? eventTypes.join(',')).split(',').filter((type) => type !== '')
    if (events.length === 0) throw new UsageError(`--events must be a list from: ${eventTypes.join(', ')}`)
    const forwardTo = texts['forward-to'] === undefined ? null : readForwardUrl(texts['forward-to'])
    const port = readPort(texts.port ?? String(target === null ? defaultPort : 0))
    const authority = await keepAuthority(directory)
    await listen({ authority, port, secret, target, events, forwardTo, json: switches.json === true })
  },
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--port: ${JSON.stringify(text)} is not accepted; it must be a port from 0 to 65535`)
}

async function listen(options: {
  readonly authority: KnownAuthority
  readonly port: number
  readonly secret: string | null
  readonly target: Target | null
  readonly events: readonly string[]
  readonly forwardTo: string | null
  readonly json: boolean
}): Promise<void> {
  const { authority, target, events, forwardTo, json } = options
  const { caPath } = authority
  const stopped = stopSignal()
  let secret = options.secret
  const seen = new Set<string>()
  const receive = async (received: Received) => {
    // Only a verified id can be relied on.
    const repeat = received.verdict.ok && seen.has(received.eventId)
    if (received.verdict.ok) seen.add(received.eventId)
    // The application need not know what it is that this command tries itself with.
    const isPing = received.verdict.ok && received.verdict.event.type === 'ping'
    const { headers, body } = received
    const forwarded = forwardTo === null || isPing ? null : await forward(forwardTo, headers, body)
    process.stdout.write((json ? jsonLine : humanLine)(received, repeat, forwarded))
    return forwarded === null ? 204 : statusFor(forwarded)
  }
  const yearFromNow = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000)
  await using receiver = await startReceiver({
    certified: authority.issue(['127.0.0.1', 'localhost'], { notAfter: yearFromNow }),
    port: options.port,
    secret: () => secret,
    receive,
  })
  const { url } = receiver
  const client = target === null ? null : clientOf(target)
  if (client === null || target === null) {
    say({ listening: url, ca: caPath, webhookId: null }, intro())
    await stopped
    return
  }
  const registerHere = () => register(client, { url, events, caPath, description: 'deskwire listen' })
  const webhook = await registerHere()
  let { id } = webhook
  secret = webhook.secret
  const over = new AbortController()
  try {
    say({ listening: url, ca: caPath, ...shown(webhook) }, registered(webhook))
    await Promise.race([tryWithPing(client, id, caPath), stopped])
    const keeping = keepRegistered(clientOf(target, { retries: 0 }), {
      webhookId: id,
      register: registerHere,
      tell,
      signal: over.signal,
    })
    await Promise.race([keeping, stopped])
  } finally {
    over.abort()
    await unregister(client, id)
    if (!json) process.stdout.write(`webhook ${id} deleted\n`)
  }

  function say(record: object, text: string): void {
    process.stdout.write(json ? `${JSON.stringify(record)}\n` : text)
  }

  function tell(found: Found): void {
    if (found.found !== 'deleted') {
      const isBack = found.found === 'reachable'
      say(found, isBack ? 'the service answers again\n' : 'the service does not answer: waiting for it\n')
      return
    }
    const { webhook: anew } = found
    id = anew.id
    secret = anew.secret
    say({ found: 'deleted', ...shown(anew) }, `the endpoint was deleted: ${registered(anew)}`)
  }

  /** The application needs the secret; otherwise nobody does. */
  function shown(endpoint: WebhookWithSecret) {
    return { webhookId: endpoint.id, ...(forwardTo === null ? {} : { forwardTo, secret: endpoint.secret }) }
  }

  function intro(): string {
    const unknown =
      secret === null ? 'no secret is given, so nothing can be verified: see deskwire listen --help\n' : ''
    return `listening on ${url}, Ctrl-C ends\n${unknown}a service that delivers here is started with ${serverSettings(caPath)}\n`
  }

  function registered(endpoint: WebhookWithSecret): string {
    const forwarding =
      forwardTo === null
        ? ''
        : `forwarding to ${forwardTo}, which verifies with the secret ${endpoint.secret}\n`
    return `listening on ${url} as webhook ${endpoint.id}, Ctrl-C deletes it\n${forwarding}`
  }
}

/** Handlers that stay: Ctrl-C under npx arrives twice, and the second would end the process before it has cleaned up. */
function stopSignal(): Promise<void> {
  return new Promise((settle) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => settle())
  })
}
