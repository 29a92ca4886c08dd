import type { WebhookWithSecret } from '@deskwire/sdk'
import { clientHelp, clientOf, readTarget, type Target } from '../client.ts'
import type { Command } from '../commands.ts'
import { parseFlags } from '../flags.ts'
import { defaultDirectory, type KnownAuthority, keepAuthority } from '../listen/authority.ts'
import { humanLine, jsonLine } from '../listen/lines.ts'
import { type Received, startReceiver } from '../listen/receiver.ts'
import { register, serverSettings, tryWithPing, unregister } from '../listen/register.ts'
import { eventTypes } from '../triggers.ts'
import { UsageError } from '../usage-error.ts'

const defaultPort = 8443

export const listenCommand: Command = {
  help: () => `deskwire listen: an HTTPS receiver on 127.0.0.1 that verifies each delivery, prints it and answers 204.

  --secret whsec_…       the secret of the endpoint (DESKWIRE_WEBHOOK_SECRET)
  --events TYPE,…        with --url: what to subscribe to (all of them)
  --port N               where to listen (${defaultPort}; with --url any free port)
  --dir DIR              keeps the receiver's certificate authority (${defaultDirectory()})
  --ca                   print the path of the authority's certificate, made if need be, and end
  --json                 one JSON object a line
${clientHelp}
With --url and --key it registers an endpoint for itself, learns the secret, and deletes the endpoint on Ctrl-C. Without,
register https://127.0.0.1:PORT/ yourself and give --secret.

A service delivers to public addresses only. For this receiver, start it with
  DESKWIRE_TRUSTED_TARGETS=127.0.0.0/8 DESKWIRE_TARGET_CA="$(deskwire listen --ca)" deskwire serve
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: ['secret', 'events', 'port', 'dir', 'url', 'key'],
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
    const port = readPort(texts.port ?? String(target === null ? defaultPort : 0))
    const authority = await keepAuthority(directory)
    await listen({ authority, port, secret, target, events, json: switches.json === true })
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
  readonly json: boolean
}): Promise<void> {
  const { authority, target, events, json } = options
  const { caPath } = authority
  const stopped = stopSignal()
  let secret = options.secret
  const seen = new Set<string>()
  const receive = (received: Received) => {
    // Only a verified id can be relied on.
    const repeat = received.verdict.ok && seen.has(received.eventId)
    if (received.verdict.ok) seen.add(received.eventId)
    process.stdout.write(json ? jsonLine(received, repeat) : humanLine(received, repeat))
    return 204
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
  if (client === null) {
    process.stdout.write(
      json ? `${JSON.stringify({ listening: url, ca: caPath, webhookId: null })}\n` : intro(),
    )
    await stopped
    return
  }
  const webhook = await register(client, { url, events, caPath, description: 'deskwire listen' })
  secret = webhook.secret
  try {
    process.stdout.write(
      json
        ? `${JSON.stringify({ listening: url, ca: caPath, webhookId: webhook.id })}\n`
        : registered(webhook),
    )
    await Promise.race([tryWithPing(client, webhook.id, caPath), stopped])
    await stopped
  } finally {
    await unregister(client, webhook.id)
    if (!json) process.stdout.write(`webhook ${webhook.id} deleted\n`)
  }

  function intro(): string {
    const unknown =
      secret === null ? 'no secret is given, so nothing can be verified: see deskwire listen --help\n' : ''
    return `listening on ${url}, Ctrl-C ends\n${unknown}a service that delivers here is started with ${serverSettings(caPath)}\n`
  }

  function registered(endpoint: WebhookWithSecret): string {
    return `listening on ${url} as webhook ${endpoint.id}, Ctrl-C deletes it\n`
  }
}

/** Handlers that stay: Ctrl-C under npx arrives twice, and the second would end the process before it has cleaned up. */
function stopSignal(): Promise<void> {
  return new Promise((settle) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => settle())
  })
}
