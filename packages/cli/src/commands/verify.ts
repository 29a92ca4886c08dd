import { clientHelp } from '../client.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { count } from '../import/show.ts'
import { copyHelp, withCopy } from '../mirror/place.ts'
import { differencesText, quarantineText } from '../mirror/show.ts'
import { printOut } from '../terminal.ts'

export const verifyCommand: Command = {
  help: () => `deskwire mirror verify --to PLACE: compare every row of a copy, its text and each of its columns, with the service.

${copyHelp()}  --json                 print JSON, with all differences
${clientHelp}
The command first brings the copy up to date. The service compares digests of ranges of ids, so calls and bytes grow with the number of
differences, not of rows. Others may write meanwhile, on both sides. It repairs nothing: deskwire mirror repair does.

Exit codes: 0 when the copy is exact; 3 when rows differ or are quarantined; 1 when it could not be compared, or there is no copy; 2 for a wrong command
line.

Example:
  deskwire mirror verify --to postgres://desk@db.internal/warehouse --url https://desk.example/v1 --key dwk_…
`,
  async run(args) {
    const { json, place, result } = await withCopy('verify', args, (mirror) => mirror.verify())
    const { exact, rows, reduced = [], differences, quarantined } = result
    const how = reduced.length === 0 ? '' : `; fetched, and compared as far as kept: ${reduced.join(', ')}`
    const compared = Object.values(rows).reduce((sum, n) => sum + n, 0)
    if (json) printOut(`${JSON.stringify({ to: place, ...result })}\n`)
    else if (exact) printOut(`${count(compared)} rows compared: the copy in ${place} is exact${how}\n`)
    else {
      const what = differences.length === 1 ? '1 row differs' : `${count(differences.length)} rows differ`
      printOut(
        `${differencesText(differences)}${quarantineText(quarantined)}${count(compared)} rows compared: ${what}${differences.length === 0 ? '' : '; deskwire mirror repair fetches those'}${how}\n`,
      )
    }
    if (!exact) process.exitCode = exitCodes.found
  },
}
