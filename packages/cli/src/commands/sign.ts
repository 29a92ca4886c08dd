import { signStandardWebhook, signWebhook } from '@deskwire/sdk'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { eventOf, readBody, readSeconds, readSecrets, secretHelp } from '../signatures/input.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const signCommand: Command = {
  help: () => `deskwire signature sign [FILE]: sign a body as the service signs deliveries, and print the headers.

  FILE                   the raw body; default: standard input
${secretHelp}  --signatures LIST      service, standard, or both with a comma (service): X-Service-Signature, or Standard Webhooks
  --timestamp SECONDS    when it is signed, in unix seconds (now)
  --id ID                the event's id (that of the body)
  --json                 one JSON object: {"x-service-signature": …}

A body that is an event also gets the headers X-Service-Event-Id and X-Service-Event-Type. The bytes are signed as they are: send
them with --data-binary, as --data leaves out line breaks. A secret on a command line can be seen by others on the machine; the
environment cannot.

Exit codes: 0 when it is signed; 1 when FILE cannot be read; 2 for a wrong command line.

Example:
  deskwire signature sign event.json | curl -H @- --data-binary @event.json http://localhost:3000/hook
`,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['secret', 'signatures', 'timestamp', 'id'],
      switches: ['json'],
      words: 1,
    })
    const schemes = (texts.signatures ?? 'service').split(',')
    const unknown = schemes.find((scheme) => scheme !== 'service' && scheme !== 'standard')
    if (unknown !== undefined)
      throw new UsageError(
        `--signatures: ${JSON.stringify(unknown)} is not accepted; there are service and standard`,
      )
    const timestamp = readSeconds('timestamp', texts.timestamp) ?? Math.floor(Date.now() / 1_000)
    const secrets = readSecrets(texts.secret)
    const body = await readBody(words[0])
    const event = eventOf(body)
    const id = texts.id ?? event?.id
    const headers: Record<string, string> = { 'Content-Type': 'application/json' }
    if (id !== undefined) headers['X-Service-Event-Id'] = id
    if (event !== null) headers['X-Service-Event-Type'] = event.type
    if (schemes.includes('service'))
      headers['X-Service-Signature'] = await signWebhook(body, secrets, { timestamp })
    if (schemes.includes('standard')) {
      if (id === undefined)
        throw new UsageError(
          '--id is needed: Standard Webhooks signs the id of the event, and the body names none',
        )
      Object.assign(headers, await standardHeaders(id, body, secrets, timestamp))
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)
    printOut(switches.json ? `${JSON.stringify(headers)}\n` : lines.join(''))
  },
}

async function standardHeaders(id: string, body: Uint8Array, secrets: readonly string[], timestamp: number) {
  try {
    return await signStandardWebhook(id, body, secrets, { timestamp })
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`--secret: ${error.message}`)
    throw error
  }
}
