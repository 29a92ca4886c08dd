import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { dbtSources } from '../mirror/dbt.ts'
import { copyHelp, explained, openCopy, readCopy } from '../mirror/place.ts'
import { printOut } from '../terminal.ts'

export const mirrorDbtCommand: Command = {
  help: () => `deskwire mirror dbt --to PLACE: print the tables of a copy as sources of dbt, with freshness.

${copyHelp()}
It needs dbt 1.10 or later. Freshness is of _deskwire_status: the time since the copy last matched the service. The profile of dbt names
the database of the copy; with dbt-duckdb, the file, or a database that attaches it.

Exit codes: 0; 1 when there is no copy; 2 for a wrong command line.

Example:
  deskwire mirror dbt --to reports.duckdb > models/sources.yml
`,
  async run(args) {
    const place = readCopy('mirror dbt', parseFlags(args, { texts: ['to', 'schema'], switches: [] }).texts)
    try {
      const store = await openCopy(place)
      const { statusTable, tablesOf } = await import('@deskwire/mirror')
      try {
        printOut(dbtSources(place.relation(store), await tablesOf(store), statusTable))
      } finally {
        await store.close()
      }
    } catch (error) {
      throw await explained(error, place)
    }
  },
}
