import {
  examine,
  type Finding,
  flagOf,
  readConfig,
  settings,
  settingsHelp,
  verdictOf,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { commandLog } from '../database.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { trustSystem } from '../system-authorities.ts'
import { plain, printOut } from '../terminal.ts'

export const doctorCommand: Command = {
  help: () => `deskwire doctor: look whether everything is there that the service needs, and say what to do where it is not.

  --endpoint URL|ID      reach this endpoint, and no other
  --json                 print JSON: {verdict, findings: [{check, verdict, found, advice}]}

Run it where the service runs, as the same user and with the same settings, while it runs or while it is stopped. It looks at
settings, the database with role, migrations and clock, the encryption key, name servers, endpoints as a worker reaches them
(addresses and TLS; no request is sent), and the disk. It changes nothing.

Exit codes: 0 when nothing failed, though there may be warnings; 3 when something did, settings that are not accepted included; 2 for
a wrong command line.

Settings are given as to deskwire serve:

${settingsHelp()}

Example:
  deskwire doctor --endpoint https://hooks.example.com/deskwire
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: ['endpoint', ...Object.values(settings).map(({ variable }) => flagOf(variable))],
      switches: ['json'],
    })
    const { endpoint = null, ...given } = texts
    const flags = Object.entries(given).map(([name, value]) => `--${name}=${value}`)
    trustSystem()
    const config = readConfig(process.env, flags)
    const findings: readonly Finding[] = config.ok
      ? await examine({ config: config.value, environment: process.env, endpoint, log: commandLog() })
      : [{ check: 'settings', verdict: 'failed', found: config.error, advice: null }]
    const verdict = verdictOf(findings)
    printOut(switches.json ? `${JSON.stringify({ verdict, findings })}\n` : lines(findings))
    if (verdict === 'failed')
      throw new CommandFailure('something failed: what is above says what to do', exitCodes.found)
  },
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
