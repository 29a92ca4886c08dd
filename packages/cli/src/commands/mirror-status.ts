import type { Command } from '../command.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { copyHelp, explained, readCopy } from '../mirror/place.ts'
import { statusText } from '../mirror/show.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const mirrorStatusCommand: Command = {
  help: () => `deskwire mirror status --to PLACE: show rows, last change, lag and last comparison of a copy, without the service.

${copyHelp()}  --max-lag SECONDS      exit with 3 when the copy last matched the service longer ago
  --json                 print JSON

The same values are in the table _deskwire_status of the copy. A DuckDB file that a running mirror has open cannot be read: use
deskwire mirror run --metrics there.

Exit codes: 0; 3 when the lag is larger than --max-lag, rows are quarantined, or the last comparison found differences; 1 when
there is no copy; 2 for a wrong command line.

Example:
  deskwire mirror status --to postgres://desk@db.internal/warehouse --max-lag 300
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, { texts: ['to', 'schema', 'max-lag'], switches: ['json'] })
    const place = readCopy('mirror status', texts)
    const maxLag = Number(texts['max-lag'] ?? Number.POSITIVE_INFINITY)
    if (Number.isNaN(maxLag) || maxLag < 0) throw new UsageError('--max-lag must be a number of seconds')
    try {
      const store = await place.store()
      const { statusOf } = await import('@deskwire/mirror')
      try {
        const status = await statusOf(store)
        if (status === undefined)
          throw new CommandFailure(`there is no copy in ${place.name}: deskwire mirror run --to makes one`)
        printOut(
          switches.json
            ? `${JSON.stringify({ to: place.name, ...status })}\n`
            : statusText(place.name, status),
        )
        const isLate = (status.lagSeconds ?? Number.POSITIVE_INFINITY) > maxLag
        if (isLate || status.quarantined > 0 || status.kinds.some(({ exact }) => exact === false))
          process.exitCode = exitCodes.found
      } finally {
        await store.close()
      }
    } catch (error) {
      throw await explained(error, place)
    }
  },
}
