import { examine, type Finding, readConfig, verdictOf } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { commandLog } from '../database.ts'
import { CommandFailure } from '../failure.ts'
import { plain } from '../table.ts'
import { UsageError } from '../usage-error.ts'

export const doctorCommand: Command = {
  help: () => `deskwire doctor: look whether everything is there that the service needs, and say what to do where it is not.

  --endpoint URL|ID      reach this endpoint, and no other
  --json                 print JSON: {verdict, findings: [{check, verdict, found, advice}]}
  and the flags of deskwire serve

Run it where the service runs, as the same user and with the same settings, beside it or while it is stopped. It looks at
settings, the database with role, migrations and clock, the encryption key, name servers, endpoints as a worker reaches them
(addresses and TLS; no request is sent), and the disk. It changes nothing.

Exit codes: 0 when nothing failed, though there may be warnings; 1 when something failed; 2 for a wrong command line.

Example:
  deskwire doctor --endpoint https://hooks.example.com/deskwire
`,
  async run(args) {
    const { endpoint, json, rest } = split(args)
    const config = readConfig(process.env, rest)
    const findings: readonly Finding[] = config.ok
      ? await examine({ config: config.value, environment: process.env, endpoint, log: commandLog() })
      : [{ check: 'settings', verdict: 'failed', found: config.error, advice: null }]
    const verdict = verdictOf(findings)
    process.stdout.write(json ? `${JSON.stringify({ verdict, findings })}\n` : lines(findings))
    if (verdict === 'failed') throw new CommandFailure('something failed: what is above says what to do')
  },
}

/** The command's own flags, and those of the settings. */
function split(args: readonly string[]) {
  const rest: string[] = []
  let endpoint: string | null = null
  let json = false
  for (let n = 0; n < args.length; n++) {
    const word = args[n] as string
    const [name, value] = word.split(/=(.*)/s)
    if (word === '--json') json = true
    else if (name === '--endpoint') {
      endpoint = value ?? args[++n] ?? null
      if (endpoint === null) throw new UsageError('--endpoint needs a URL or the id of an endpoint')
    } else rest.push(word)
  }
  return { endpoint, json, rest }
}

/** A line each: how it is, what was looked at, what was found and what to do. */
function lines(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ check, verdict, found, advice }) => {
      const text = advice === null ? found : `${found}; ${advice}`
      return `${verdict.padEnd(7)}  ${check.padEnd(width)}  ${plain(text)}\n`
    })
    .join('')
}
