import { readFile } from 'node:fs/promises'
import {
  type Examination,
  type ExaminedDelivery,
  examineSignature,
  type SignatureScheme,
  signatureHeaders,
} from '@deskwire/sdk'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import {
  eventOf,
  parseHeaders,
  readBody,
  readPublicKeys,
  readSeconds,
  readSecrets,
  secretHelp,
} from '../signatures/input.ts'
import { plain, printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

/** The flags that give a header each, in place of a file of them. */
const headerFlags = {
  signature: 'x-service-signature',
  'webhook-id': 'webhook-id',
  'webhook-timestamp': 'webhook-timestamp',
  'webhook-signature': 'webhook-signature',
} as const

export const verifySignatureCommand: Command = {
  help: () => `deskwire signature verify [FILE]: say whether a delivery is signed rightly and, if not, which rule it breaks, and why.

  FILE                   the raw body as it was received; default: standard input
${secretHelp}  --jwks FILE|URL        the public keys of the organization, to check the asymmetric signature (v1a) instead
  --headers FILE         the headers of the delivery, a line "Name: value" each, or a JSON object
  --signature TEXT       X-Service-Signature: t=<unix seconds>,v1=<hex>
  --webhook-id TEXT      of Standard Webhooks, as are the next two
  --webhook-timestamp TEXT
  --webhook-signature TEXT
  --tolerance SECONDS    how far from now it may have been signed (300)
  --at SECONDS           what is now, in unix seconds, to judge a delivery of the past
  --json                 print JSON

It checks both signatures where the headers of both are there. When none fits, it tries and reports frequent mistakes: a body
that was parsed and written again, a line break too many, white space around the secret, the key of the other signature.

Exit codes: 0 verified; 3 refused; 1 when a file cannot be read; 2 for a wrong command line.

Examples:
  deskwire signature verify body.json --headers headers.txt --secret whsec_…
  deskwire signature verify body.json --signature "t=1769851800,v1=…" --at 1769851800
  deskwire signature verify body.json --headers headers.txt --jwks "https://desk.example.com/.well-known/jwks.json?organizationId=…"
`,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: [
        'secret',
        'jwks',
        'headers',
        'tolerance',
        'at',
        ...(Object.keys(headerFlags) as (keyof typeof headerFlags)[]),
      ],
      switches: ['json'],
      words: 1,
    })
    const tolerance = readSeconds('tolerance', texts.tolerance) ?? 300
    const now = readSeconds('at', texts.at) ?? Math.floor(Date.now() / 1_000)
    const publicKeys = texts.jwks === undefined ? undefined : await readPublicKeys(texts.jwks)
    const secrets = publicKeys === undefined ? readSecrets(texts.secret) : []
    const headers = texts.headers === undefined ? {} : parseHeaders(await readFile(texts.headers, 'utf8'))
    for (const [flag, name] of Object.entries(headerFlags)) {
      const given = texts[flag as keyof typeof headerFlags]
      if (given !== undefined) headers[name] = given
    }
    const known = publicKeys === undefined ? (['service', 'standard'] as const) : (['v1a'] as const)
    const schemes = known.filter((scheme) =>
      signatureHeaders[scheme].some((name) => name.toLowerCase() in headers),
    )
    if (schemes.length === 0 && texts.headers === undefined)
      throw new UsageError(
        'the headers are needed: --headers FILE, --signature, or the three of Standard Webhooks',
      )
    const body = await readBody(words[0])
    // Where none is there, the first is missing.
    const looked = schemes.length === 0 ? known.slice(0, 1) : schemes
    const delivery = { body, headers, secrets, now, tolerance, ...(publicKeys && { publicKeys }) }
    const signatures = await Promise.all(looked.map((scheme) => examined(scheme, delivery)))
    const verified = signatures.every((one) => one.verified)
    const event = eventOf(body)
    if (switches.json) printOut(`${JSON.stringify({ verified, event, signatures })}\n`)
    else printOut(`${signatures.map(text).join('\n')}${event === null ? '' : about(event)}`)
    if (!verified) process.exitCode = exitCodes.found
  },
}

async function examined(scheme: SignatureScheme, delivery: ExaminedDelivery): Promise<Examination> {
  try {
    return await examineSignature(scheme, delivery)
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`--${scheme === 'v1a' ? 'jwks' : 'secret'}: ${error.message}`)
    throw error
  }
}

function text({ scheme, rules, verified, reason, detail, cause }: Examination): string {
  const lines = rules.map(({ rule, says, holds, seen }) => {
    const found = holds === null ? '  ' : holds ? 'holds ' : 'BROKEN'
    return `${found.padEnd(6)}  ${rule.padEnd(9)}  ${says}${seen === '' ? '' : `: ${plain(seen)}`}\n`
  })
  const verdict = verified ? 'verified\n' : `refused, ${reason}: ${detail}\n`
  const title = titles[scheme]
  return `${title}\n${lines.join('')}${verdict}${cause === null ? '' : `likely: ${cause}\n`}`
}

const titles = {
  service: 'X-Service-Signature',
  standard: 'Standard Webhooks',
  v1a: 'Standard Webhooks, asymmetric',
} as const

/** What the body says of itself: as true as the verdict. */
function about({ id, type }: { id: string; type: string }): string {
  return `the body says: ${plain(type)}, event ${plain(id)}\n`
}
