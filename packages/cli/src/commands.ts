import { backupCommand } from './commands/backup.ts'
import { conformCommand } from './commands/conform.ts'
import { demoCommand } from './commands/demo.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { keysCreate } from './commands/keys-create.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { orgCreate } from './commands/org-create.ts'
import { restoreCommand } from './commands/restore.ts'
import { restoredCommand } from './commands/restored.ts'
import { serveCommand } from './commands/serve.ts'
import { triggerCommand } from './commands/trigger.ts'

export interface Command {
  /** The words that name it. */
  readonly name: string
  readonly summary: string
  help(): string
  run(args: readonly string[]): Promise<void>
}

export const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  orgCreate,
  keysCreate,
  listenCommand,
  triggerCommand,
  importCommand,
  exportCommand,
  backupCommand,
  restoreCommand,
  restoredCommand,
  conformCommand,
  demoCommand,
]

export function usage(): string {
  const lines = commands.map(({ name, summary }) => `  deskwire ${name.padEnd(14)} ${summary}`)
  return `Deskwire, a desk service whose outside copies never drift.\n\n${lines.join('\n')}\n\ndeskwire COMMAND --help says more; deskwire --version says which release this is.\n`
}
