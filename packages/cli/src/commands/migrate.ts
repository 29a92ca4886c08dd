import { migrate, schemaOf } from '@deskwire/service/administration'
import type { Command } from '../commands.ts'
import { databaseHelp, readCommand, withDatabase } from '../database.ts'

export const migrateCommand: Command = {
  help: () => `deskwire migrate: bring the schema up to date.

  --json                 print JSON
${databaseHelp}
Example:
  deskwire migrate --database-url postgres://desk@db.internal/desk
`,
  async run(args) {
    const { json, config } = readCommand(args, [])
    await withDatabase(config, async (pool) => {
      const applied = await migrate(pool, schemaOf())
      const lines = applied.length === 0 ? ['up to date'] : applied.map((id) => `applied ${id}`)
      process.stdout.write(json ? `${JSON.stringify({ applied })}\n` : `${lines.join('\n')}\n`)
    })
  },
}
