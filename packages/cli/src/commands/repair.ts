import { clientHelp } from '../client.ts'
import type { Command } from '../command.ts'
import { exitCodes } from '../failure.ts'
import { rowsText } from '../import/show.ts'
import { copyHelp, withCopy } from '../mirror/place.ts'
import { differencesText, quarantineText } from '../mirror/show.ts'
import { printOut } from '../terminal.ts'

export const repairCommand: Command = {
  help: () => `deskwire mirror repair --to PLACE: find the rows of a copy that differ from the service, and fetch exactly those.

${copyHelp()}  --json                 print JSON, with all that was repaired
${clientHelp}
It finds them as deskwire mirror verify does, and makes tables and columns again that were dropped or renamed. A mirror that follows may run
meanwhile. The service has no removed rows: those that the copy kept, and somebody changed or deleted, are lost.

Exit codes: 0 when the copy is exact now, whether anything was repaired or not; 3 when rows are lost or quarantined; 1 when it could not be compared or repaired, or there is
no copy; 2 for a wrong command line.

Example:
  deskwire mirror repair --to postgres://desk@db.internal/warehouse --url https://desk.example/v1 --key dwk_…
`,
  async run(args) {
    const { json, place, result } = await withCopy('repair', args, async (mirror) => {
      const differences = await mirror.repair()
      return { differences, quarantined: await mirror.quarantined() }
    })
    const { differences, quarantined } = result
    const lost = differences.filter(({ type }) => type === 'lost')
    const repaired = differences.filter(({ type }) => type !== 'lost')
    const also = lost.length === 0 ? '' : `; ${rowsText(lost.length)} lost, which the service has no more`
    printOut(
      json
        ? `${JSON.stringify({ to: place, repaired, lost, quarantined })}\n`
        : `${differencesText(differences)}${quarantineText(quarantined)}${rowsText(repaired.length)} repaired in ${place}${also}\n`,
    )
    if (lost.length + quarantined.length > 0) process.exitCode = exitCodes.found
  },
}
