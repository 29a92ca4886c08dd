import { migrateDatabase } from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { oneDatabaseHelp, readCommand, withInstallation } from '../database.ts'
import { printOut } from '../terminal.ts'

export const migrateCommand: Command = {
  help: () => `deskwire migrate: bring the schema up to date.

  --json                 print JSON, a line for each of several databases
${oneDatabaseHelp}
Example:
  deskwire migrate --database-url postgres://desk@db.internal/desk
`,
  async run(args) {
    const { json, config, database: wanted } = readCommand(args, ['database'])
    await withInstallation({ config }, async ({ databases, named }) => {
      for (const database of wanted === null ? databases : [named(wanted)]) {
        const { name } = database
        const applied = await migrateDatabase(database)
        const lines = applied.length === 0 ? ['up to date'] : applied.map((id) => `applied ${id}`)
        const shown = name === null ? lines : lines.map((line) => `${name}: ${line}`)
        const result = name === null ? { applied } : { database: name, applied }
        printOut(json ? `${JSON.stringify(result)}\n` : `${shown.join('\n')}\n`)
      }
    })
  },
}
