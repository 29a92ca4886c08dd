import { clientHelp } from '../client.ts'
import type { Command } from '../commands.ts'
import { rowsText } from '../import/show.ts'
import { copyHelp, withCopy } from '../mirror/place.ts'
import { differencesText } from '../mirror/show.ts'

export const repairCommand: Command = {
  help: () => `deskwire repair --to PLACE: find the rows of a copy that are not what the service has, and fetch exactly those.

${copyHelp}  --json                 print JSON, with all that was mended
${clientHelp}
It finds them as deskwire verify does. A mirror that follows may run meanwhile.

Exit codes: 0 when the copy is exact now, whether anything was mended or not; 1 when it could not be compared or mended, or there is
no copy; 2 for a wrong command line.

Example:
  deskwire repair --to postgres://desk@db.internal/warehouse --url https://desk.example/v1 --key dwk_…
`,
  async run(args) {
    const { json, place, result } = await withCopy('repair', args, (mirror) => mirror.repair())
    process.stdout.write(
      json
        ? `${JSON.stringify({ to: place, mended: result })}\n`
        : `${differencesText(result)}${rowsText(result.length)} mended in ${place}\n`,
    )
  },
}
