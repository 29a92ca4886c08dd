import { startLean } from './start-lean.ts'

/** The commands. Each has a module of its own, loaded when it is asked for: most need little of the service. */
export interface Command {
  help(): string
  run(args: readonly string[]): Promise<void>
  /** What its own words can be, where those are few and known: for the completion of a shell. */
  words?(): readonly string[]
}

export interface NamedCommand {
  /** The words that name it. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

export const commands: readonly NamedCommand[] = [
  {
    name: 'serve',
    summary: 'run the service',
    load: async () => {
      startLean()
      return (await import('./commands/serve.ts')).serveCommand
    },
  },
  {
    name: 'migrate',
    summary: 'bring the schema up to date (serve does it too)',
    load: async () => (await import('./commands/migrate.ts')).migrateCommand,
  },
  {
    name: 'org create',
    summary: 'make an organization and print its first API key',
    load: async () => (await import('./commands/org-create.ts')).orgCreate,
  },
  {
    name: 'org list',
    summary: 'print the organizations, with what they store',
    load: async () => (await import('./commands/org-list.ts')).orgList,
  },
  {
    name: 'org move',
    summary: 'move an organization to another database, while it works',
    load: async () => (await import('./commands/org-move.ts')).orgMove,
  },
  {
    name: 'org drop-source',
    summary: 'remove what a move has left behind',
    load: async () => (await import('./commands/org-move.ts')).orgDropSource,
  },
  {
    name: 'org balance',
    summary: 'say which organizations to move between databases',
    load: async () => (await import('./commands/org-move.ts')).orgBalance,
  },
  {
    name: 'org suspend',
    summary: 'refuse the keys of an organization and hold its deliveries',
    load: async () => (await import('./commands/org-suspend.ts')).orgSuspend,
  },
  {
    name: 'org resume',
    summary: 'end the suspension of an organization',
    load: async () => (await import('./commands/org-suspend.ts')).orgResume,
  },
  {
    name: 'org delete',
    summary: 'delete an organization and everything of it',
    load: async () => (await import('./commands/org-delete.ts')).orgDelete,
  },
  {
    name: 'keys create',
    summary: 'make another API key of an organization',
    load: async () => (await import('./commands/keys-create.ts')).keysCreate,
  },
  {
    name: 'keys list',
    summary: 'print the API keys of an organization',
    load: async () => (await import('./commands/keys-list.ts')).keysList,
  },
  {
    name: 'keys revoke',
    summary: 'revoke an API key at once',
    load: async () => (await import('./commands/keys-revoke.ts')).keysRevoke,
  },
  {
    name: 'listen',
    summary: 'receive deliveries on this machine, verify and print them',
    load: async () => (await import('./commands/listen.ts')).listenCommand,
  },
  {
    name: 'trigger',
    summary: 'make a change that causes an event',
    load: async () => (await import('./commands/trigger.ts')).triggerCommand,
  },
  {
    name: 'chaos-receiver',
    summary: 'receive deliveries and misbehave: errors, redirects, resets, silence',
    load: async () => (await import('./commands/chaos-receiver.ts')).chaosReceiver,
  },
  {
    name: 'sign',
    summary: 'sign a body as the service signs deliveries',
    load: async () => (await import('./commands/sign.ts')).signCommand,
  },
  {
    name: 'verify-signature',
    summary: 'say which rule a signature breaks, and why',
    load: async () => (await import('./commands/verify-signature.ts')).verifySignatureCommand,
  },
  {
    name: 'tail',
    summary: 'print changes and removals, in order, as they happen',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  {
    name: 'mirror',
    summary: 'keep an exact copy in PostgreSQL, SQLite or DuckDB, or export one',
    load: async () => (await import('./commands/mirror.ts')).mirrorCommand,
  },
  {
    name: 'verify',
    summary: 'compare every row of a copy with the service',
    load: async () => (await import('./commands/verify.ts')).verifyCommand,
  },
  {
    name: 'repair',
    summary: 'fetch the rows of a copy that differ, and no others',
    load: async () => (await import('./commands/repair.ts')).repairCommand,
  },
  {
    name: 'import',
    summary: 'take rows in from a CSV file',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  {
    name: 'export',
    summary: 'write all rows of a kind as lines of JSON',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'backup',
    summary: 'write everything to one file, beside a running service',
    load: async () => (await import('./commands/backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    summary: 'bring a backup back, into an empty data directory or database',
    load: async () => (await import('./commands/restore.ts')).restoreCommand,
  },
  {
    name: 'restored',
    summary: 'tell the service that its database was restored by other tools',
    load: async () => (await import('./commands/restored.ts')).restoredCommand,
  },
  {
    name: 'databases settle',
    summary: 'tell the directory of several databases what they have',
    load: async () => (await import('./commands/databases-settle.ts')).databasesSettle,
  },
  {
    name: 'doctor',
    summary: 'look whether everything is there that the service needs',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'encryption-key rotate',
    summary: 'encrypt signing secrets with another key, beside a running service',
    load: async () => (await import('./commands/encryption-key-rotate.ts')).encryptionKeyRotate,
  },
  {
    name: 'conform',
    summary: 'try the rules of lists and syncs against a running deployment',
    load: async () => (await import('./commands/conform.ts')).conformCommand,
  },
  {
    name: 'demo',
    summary: 'see deliveries and the sync agree, a killed worker included',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands in a shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
]

export function usage(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  deskwire ${name.padEnd(width)}  ${summary}`)
  return `Deskwire, a desk service whose outside copies never drift.\n\n${lines.join('\n')}\n\ndeskwire COMMAND --help says more; deskwire --version says which release this is.\n`
}
