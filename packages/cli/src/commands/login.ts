/** `login`, `logout` and `whoami`: which service and key commands use unless they are told. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { CallOptions } from '@deskwire/sdk'
import { baseUrlOf, clientFlags, clientHelp, clientOf, requireTarget, type Target } from '../client.ts'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { keepProfile, profileName, profilesPath } from '../profiles.ts'
import { plain, printError, printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const usualUrl = 'http://127.0.0.1:8080/v1'

export const loginCommand: Command = {
  help: () => `deskwire login: keep a service and an API key, so that later commands need neither.

  --url BASE             the service (DESKWIRE_URL, ${usualUrl})
  --key KEY              the key; default: typed when prompted, or read from standard input
  --profile NAME         what to call it (DESKWIRE_PROFILE, default)
  --json                 print JSON

The key is tried first. It is kept, readable by its user alone, in deskwire/profiles.json of the user's config directory:
XDG_CONFIG_HOME or ~/.config, on Windows APPDATA. Other users of the machine can see a key on a command line while the command runs:
give it on standard input.

Flags of a command come first, then DESKWIRE_URL with DESKWIRE_API_KEY, then the profile: --profile NAME names one.

Example:
  deskwire login --url https://desk.example/v1 --profile staging
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, { texts: clientFlags, switches: ['json'] })
    const name = profileName(texts.profile)
    const isTerminal = process.stdin.isTTY === true
    const typed =
      texts.url ?? (process.env.DESKWIRE_URL || (isTerminal ? await ask(`Service (${usualUrl}): `) : ''))
    const baseUrl = baseUrlOf(typed === '' ? usualUrl : typed)
    const apiKey =
      texts.key ?? (isTerminal ? await askSecretly('API key (dwk_…): ') : (await text(process.stdin)).trim())
    if (apiKey === '') throw new UsageError('login needs a key: --key, or on standard input')
    const known = await whoIs({ baseUrl, apiKey })
    await keepProfile(name, { baseUrl, apiKey })
    const done = { profile: name, ...known }
    printOut(
      switches.json
        ? `${JSON.stringify(done)}\n`
        : `${sentence(known)}\nkept as profile ${name} in ${plain(profilesPath())}\n`,
    )
  },
}

export const logoutCommand: Command = {
  help: () => `deskwire logout: forget a service and its key, which stays valid.

  --profile NAME         which one (DESKWIRE_PROFILE, default)
  --json                 print JSON

Example:
  deskwire logout --profile staging
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, { texts: ['profile'], switches: ['json'] })
    const profile = profileName(texts.profile)
    const forgotten = await keepProfile(profile, null)
    printOut(
      switches.json
        ? `${JSON.stringify({ profile, forgotten })}\n`
        : `profile ${profile} ${forgotten ? 'is forgotten; its key stays valid' : 'was not there'}\n`,
    )
  },
}

export const whoamiCommand: Command = {
  help: () => `deskwire whoami: print which service, organization and key commands use.

  --json                 print JSON
${clientHelp}
Example:
  deskwire whoami --profile staging
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, { texts: clientFlags, switches: ['json'] })
    const known = await whoIs(requireTarget('whoami', texts))
    printOut(switches.json ? `${JSON.stringify(known)}\n` : `${sentence(known)}\n`)
  },
}

export interface Known {
  readonly url: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly key: {
    readonly id: string
    readonly name: string
    readonly last4: string
    readonly scopes: readonly string[]
  }
}

/** The organization and the key at a service. */
export async function whoIs(target: Target, options: CallOptions = {}): Promise<Known> {
  const client = clientOf(target)
  const [key, organization] = await Promise.all([
    client.request('GET', '/api-keys/self', options) as Promise<Known['key']>,
    client.request('GET', '/organization', options) as Promise<Known['organization']>,
  ])
  return {
    url: target.baseUrl,
    organization: { id: organization.id, name: organization.name },
    key: { id: key.id, name: key.name, last4: key.last4, scopes: key.scopes },
  }
}

function sentence({ url, organization, key }: Known): string {
  return plain(
    `${organization.name} (${organization.id}) at ${url}, by key ${key.name} (…${key.last4}), which may ${key.scopes.includes('*') ? 'do everything' : key.scopes.join(', ')}`,
  )
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}

/** What is typed is not shown. */
async function askSecretly(question: string): Promise<string> {
  printError(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return (await lines.question('')).trim()
  } finally {
    lines.close()
    printError('\n')
  }
}
