/** What commands that receive deliveries on this machine have alike: `listen`, and `chaos-receiver`. */

import { signWebhook, type WebhookWithSecret } from '@deskwire/sdk'
import { clientFlags, clientHelp, readTarget, type Target } from '../client.ts'
import { plain, printError, printOut } from '../terminal.ts'
import { eventTypes } from '../triggers.ts'
import { stopped } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'
import { defaultDirectory, type KnownAuthority, keepAuthority, keepSecret } from './authority.ts'
import { readForwardUrl } from './forward.ts'
import { type Held, holdRegistered } from './keep-registered.ts'
import { type Answer, type Received, startReceiver } from './receiver.ts'
import { howToTrust } from './register.ts'

const defaultPort = 8443

/** The flags of such a command. */
export const placeFlags = ['forward-to', 'secret', 'events', 'port', 'dir', ...clientFlags] as const

export const placeHelp =
  () => `  --secret whsec_…       the secret of an endpoint that is registered already (DESKWIRE_WEBHOOK_SECRET, where no service is named)
  --events TYPE,…        with --url: what to subscribe to (all of them)
  --port N               where to listen (${defaultPort}; with --url any free port)
  --dir DIR              keeps the receiver's certificate authority (listen in DESKWIRE_DATA_DIR, ./data/listen)
${clientHelp}`

/** Where deliveries are received, and what is known of them. */
export interface Place {
  readonly authority: KnownAuthority
  readonly port: number
  readonly secret: string | null
  /** Where to register; null when somebody else does. */
  readonly target: Target | null
  readonly events: readonly string[]
  readonly forwardTo: string | null
  /** What the application verifies with; null where it has the secret of an endpoint that somebody else registered. */
  readonly ownSecret: string | null
}

/** @throws UsageError */
export async function readPlace(texts: Partial<Record<(typeof placeFlags)[number], string>>): Promise<Place> {
  const secret = texts.secret ?? (process.env.DESKWIRE_WEBHOOK_SECRET || null)
  if (secret !== null && !/^whsec_.+$/.test(secret)) {
    throw new UsageError(
      '--secret: what is given is not accepted; it must be a secret as it was shown: whsec_…',
    )
  }
  if (texts.secret !== undefined && texts.url !== undefined) {
    throw new UsageError('--secret and --url do not go together: with --url the secret is learned')
  }
  const target = texts.secret === undefined ? readTarget(texts) : null
  if (target !== null && secret !== null)
    printError(
      'DESKWIRE_WEBHOOK_SECRET is not used: the endpoint that is registered has its own. With --secret nothing is registered.\n',
    )
  if (target === null && texts.events !== undefined)
    throw new UsageError('--events needs --url and --key as well')
  const events = (texts.events ?? eventTypes.join(',')).split(',').filter((type) => type !== '')
  if (events.length === 0) throw new UsageError(`--events must be a list from: ${eventTypes.join(', ')}`)
  const forwardTo = texts['forward-to'] === undefined ? null : readForwardUrl(texts['forward-to'])
  const port = readPort(texts.port ?? String(target === null ? defaultPort : 0))
  const authority = await keepAuthority(texts.dir ?? defaultDirectory())
  const ownSecret = target === null || forwardTo === null ? null : await keepSecret(authority)
  return { authority, port, secret, target, events, forwardTo, ownSecret }
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--port: ${JSON.stringify(text)} is not accepted; it must be a port from 0 to 65535`)
}

/**
 * Receives there until `until` aborts, and says on standard output where, and what becomes of the endpoint.
 */
export async function attend(
  place: Place,
  options: {
    /** Of the endpoint: which command it is. */
    readonly description: string
    readonly json: boolean
    readonly receive: (received: Received) => Answer | Promise<Answer>
    readonly until: AbortSignal
  },
): Promise<void> {
  const { authority, target, events } = place
  const { description, json, receive } = options
  const { caPath } = authority
  const end = stopped(options.until)
  let secret = place.secret
  const yearFromNow = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000)
  await using receiver = await startReceiver({
    certified: authority.issue(['127.0.0.1', 'localhost'], { notAfter: yearFromNow }),
    port: place.port,
    secret: () => secret,
    receive: async (received) => receive(await signedAnew(received, place)),
  })
  const { url } = receiver
  if (target === null) {
    say({ listening: url, ca: caPath, webhookId: null }, intro())
    await end
    return
  }
  await holdRegistered(target, { url, events, caPath, description }, { stopped: end, tell })

  function say(record: object, text: string): void {
    printOut(json ? `${JSON.stringify(record)}\n` : text)
  }

  function tell(held: Held): void {
    switch (held.found) {
      case 'registered':
        secret = held.webhook.secret
        say({ listening: url, ca: caPath, ...shown(held.webhook) }, registered(held.webhook))
        break
      case 'deleted': {
        secret = held.webhook.secret
        const text = `the endpoint was deleted: ${registered(held.webhook)}`
        say({ found: 'deleted', ...shown(held.webhook) }, text)
        break
      }
      case 'reachable':
        say(held, 'the service answers again\n')
        break
      case 'unreachable':
        say(held, 'the service does not answer: waiting for it\n')
        break
      case 'ended':
        if (!json) printOut(`webhook ${plain(held.webhookId)} deleted\n`)
    }
  }

  function shown({ id }: WebhookWithSecret) {
    return { webhookId: id, ...forwardingRecord(place) }
  }

  function intro(): string {
    const unknown = secret === null ? 'no secret is given, so nothing can be verified: see --help\n' : ''
    return `listening on ${url}, Ctrl-C ends\n${unknown}a service that delivers here is started with ${howToTrust(caPath)}\n`
  }

  function registered(endpoint: WebhookWithSecret): string {
    return `listening on ${url} as webhook ${plain(endpoint.id)}, Ctrl-C deletes it\n${forwardingText(place)}`
  }
}

/** What a program that started the command needs to know of the application. */
export function forwardingRecord({ forwardTo, ownSecret }: Place): object {
  return ownSecret === null ? {} : { forwardTo, secret: ownSecret }
}

export function forwardingText({ forwardTo, ownSecret }: Place): string {
  return ownSecret === null ? '' : `forwarding to ${forwardTo}, which verifies with the secret ${ownSecret}\n`
}

/**
 * A delivery as it is passed on: what was verified is signed with the secret that the application has, now and
 * tomorrow.
 */
export async function signedAnew(received: Received, { ownSecret }: Place): Promise<Received> {
  if (ownSecret === null || !received.verdict.ok) return received
  const timestamp = Math.floor(received.at.getTime() / 1_000)
  const signature = await signWebhook(received.body, ownSecret, { timestamp })
  return { ...received, headers: { ...received.headers, 'x-service-signature': signature } }
}
