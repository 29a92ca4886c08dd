import type { Command, CommandGroup, NamedCommand } from './command.ts'
import { operations } from './resources/operation.ts'
import { startLean } from './start-lean.ts'

/** What the commands are for, in the order of the help. */
export const groups: Readonly<Record<CommandGroup, string>> = {
  run: 'Run the service (package deskwire)',
  develop: 'Develop against it',
  data: 'Work with its data',
  administer: 'Administer it, next to its database (package deskwire)',
  diagnose: 'Diagnose',
}

/** Their commands load `@deskwire/service`, which comes with the package `deskwire` and not with this one. */
const groupsOfServer: readonly CommandGroup[] = ['run', 'administer']

/** Each has a module of its own, loaded when it is asked for: most need little of the service. */
export const commands: readonly NamedCommand[] = [
  {
    name: 'serve',
    group: 'run',
    summary: 'run the service',
    load: async () => {
      startLean()
      return (await import('./commands/serve.ts')).serveCommand
    },
  },
  {
    name: 'demo',
    group: 'run',
    summary: 'see deliveries and the sync agree, a killed worker included',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    name: 'migrate',
    group: 'run',
    summary: 'bring the schema up to date (serve does it too)',
    load: async () => (await import('./commands/migrate.ts')).migrateCommand,
  },
  {
    name: 'organizations create',
    group: 'administer',
    summary: 'make an organization and print its first API key',
    load: async () => (await import('./commands/organizations-create.ts')).organizationsCreate,
  },
  {
    name: 'organizations list',
    group: 'administer',
    summary: 'print the organizations and their sizes',
    load: async () => (await import('./commands/organizations-list.ts')).organizationsList,
  },
  {
    name: 'organizations move',
    group: 'administer',
    summary: 'move an organization to another database, while it works',
    load: async () => (await import('./commands/organizations-move.ts')).organizationsMove,
  },
  {
    name: 'organizations drop-source',
    group: 'administer',
    summary: 'remove what a move has left behind',
    load: async () => (await import('./commands/organizations-move.ts')).organizationsDropSource,
  },
  {
    name: 'organizations balance',
    group: 'administer',
    summary: 'say which organizations to move between databases',
    load: async () => (await import('./commands/organizations-move.ts')).organizationsBalance,
  },
  {
    name: 'organizations suspend',
    group: 'administer',
    summary: 'refuse the keys of an organization and hold its deliveries',
    load: async () => (await import('./commands/organizations-suspend.ts')).organizationsSuspend,
  },
  {
    name: 'organizations resume',
    group: 'administer',
    summary: 'end the suspension of an organization',
    load: async () => (await import('./commands/organizations-suspend.ts')).organizationsResume,
  },
  {
    name: 'organizations delete',
    group: 'administer',
    summary: 'delete an organization and everything of it',
    load: async () => (await import('./commands/organizations-delete.ts')).organizationsDelete,
  },
  {
    name: 'organizations create-key',
    group: 'administer',
    summary: 'make another API key of an organization',
    load: async () => (await import('./commands/organizations-create-key.ts')).organizationsCreateKey,
  },
  {
    name: 'organizations list-keys',
    group: 'administer',
    summary: 'print the API keys of an organization',
    load: async () => (await import('./commands/organizations-list-keys.ts')).organizationsListKeys,
  },
  {
    name: 'organizations revoke-key',
    group: 'administer',
    summary: 'revoke an API key at once',
    load: async () => (await import('./commands/organizations-revoke-key.ts')).organizationsRevokeKey,
  },
  {
    name: 'backup create',
    group: 'administer',
    summary: 'write everything to one file, while the service runs',
    load: async () => (await import('./commands/backup.ts')).backupCommand,
  },
  {
    name: 'backup restore',
    group: 'administer',
    summary: 'bring a backup back, into an empty data directory or database',
    load: async () => (await import('./commands/restore.ts')).restoreCommand,
  },
  {
    name: 'backup mark-restored',
    group: 'administer',
    summary: 'record that other tools restored the database',
    load: async () => (await import('./commands/restored.ts')).restoredCommand,
  },
  {
    name: 'databases settle',
    group: 'administer',
    summary: 'update the directory of several databases',
    load: async () => (await import('./commands/databases-settle.ts')).databasesSettle,
  },
  {
    name: 'encryption-key rotate',
    group: 'administer',
    summary: 'encrypt signing secrets with another key, while the service runs',
    load: async () => (await import('./commands/encryption-key-rotate.ts')).encryptionKeyRotate,
  },
  {
    name: 'doctor',
    group: 'administer',
    summary: 'look whether everything is there that the service needs',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'login',
    group: 'develop',
    summary: 'keep a service and an API key for later commands',
    load: async () => (await import('./commands/login.ts')).loginCommand,
  },
  {
    name: 'whoami',
    group: 'develop',
    summary: 'print which service, organization and key commands use',
    load: async () => (await import('./commands/login.ts')).whoamiCommand,
  },
  {
    name: 'logout',
    group: 'develop',
    summary: 'forget a service and its key',
    load: async () => (await import('./commands/login.ts')).logoutCommand,
  },
  {
    name: 'listen',
    group: 'develop',
    summary: 'receive deliveries on this machine, verify and print them',
    load: async () => (await import('./commands/listen.ts')).listenCommand,
  },
  {
    name: 'trigger',
    group: 'develop',
    summary: 'make a change that causes an event',
    load: async () => (await import('./commands/trigger.ts')).triggerCommand,
  },
  {
    name: 'chaos-receiver',
    group: 'develop',
    summary: 'receive deliveries and misbehave: errors, redirects, resets, silence',
    load: async () => (await import('./commands/chaos-receiver.ts')).chaosReceiver,
  },
  {
    name: 'completion',
    group: 'develop',
    summary: 'print a script that completes commands in a shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
  {
    name: 'api',
    group: 'data',
    summary: 'make any call of the API',
    load: async () => (await import('./commands/api.ts')).apiCommand,
  },
  {
    name: 'tail',
    group: 'data',
    summary: 'print changes and removals, in order, as they happen',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  {
    name: 'import',
    group: 'data',
    summary: 'take rows in from a file of CSV or lines of JSON',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  {
    name: 'import zendesk',
    group: 'data',
    summary: 'take in an account of Zendesk with its past',
    load: async () => (await import('./commands/import-account.ts')).importZendesk,
  },
  {
    name: 'import intercom',
    group: 'data',
    summary: 'take in an account of Intercom with its past',
    load: async () => (await import('./commands/import-account.ts')).importIntercom,
  },
  {
    name: 'export',
    group: 'data',
    summary: 'write all rows of a kind as lines of JSON',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'mirror run',
    group: 'data',
    summary: 'keep an exact copy in PostgreSQL, SQLite or DuckDB, or export one',
    load: async () => (await import('./commands/mirror.ts')).mirrorCommand,
  },
  {
    name: 'mirror status',
    group: 'data',
    summary: 'show rows, lag and last comparison of a copy',
    load: async () => (await import('./commands/mirror-status.ts')).mirrorStatusCommand,
  },
  {
    name: 'mirror dbt',
    group: 'data',
    summary: 'print the tables of a copy as sources of dbt',
    load: async () => (await import('./commands/mirror-dbt.ts')).mirrorDbtCommand,
  },
  {
    name: 'mirror verify',
    group: 'data',
    summary: 'compare every row of a copy with the service',
    load: async () => (await import('./commands/verify.ts')).verifyCommand,
  },
  {
    name: 'mirror repair',
    group: 'data',
    summary: 'fetch the rows of a copy that differ, and no others',
    load: async () => (await import('./commands/repair.ts')).repairCommand,
  },
  {
    name: 'conform',
    group: 'diagnose',
    summary: 'try the rules of lists and syncs against a running deployment',
    load: async () => (await import('./commands/conform.ts')).conformCommand,
  },
  {
    name: 'signature verify',
    group: 'diagnose',
    summary: 'say which rule a signature breaks, and why',
    load: async () => (await import('./commands/verify-signature.ts')).verifySignatureCommand,
  },
  {
    name: 'signature sign',
    group: 'diagnose',
    summary: 'sign a body as the service signs deliveries',
    load: async () => (await import('./commands/sign.ts')).signCommand,
  },
  ...operations.map(
    (operation): NamedCommand => ({
      name: operation.name,
      group: 'data',
      summary: operation.summary,
      operation,
      load: async () => (await import('./resources/command.ts')).resourceCommand(operation),
    }),
  ),
]

/** Null for a command of the server where only `@deskwire/cli` is installed. */
export async function loadCommand({ group, load }: NamedCommand): Promise<Command | null> {
  try {
    return await load()
  } catch (error) {
    if (groupsOfServer.includes(group) && isNotInstalled(error)) return null
    throw error
  }
}

/** Whether an import failed as the service is not there; a package that the service lacks is a broken installation. */
export function isNotInstalled(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' && message.startsWith("Cannot find package '@deskwire/service'")
}

/** The command that a command line begins with, and how many of its words name it: the longest name wins. */
export function commandOf(given: readonly string[]): { command: NamedCommand; words: number } | null {
  const named = commands.flatMap((command) => {
    const words = command.name.split(' ')
    return words.every((word, n) => given[n] === word) ? [{ command, words: words.length }] : []
  })
  return named.sort((a, b) => b.words - a.words)[0] ?? null
}

/** The commands by groups, those of a resource in one line; or those whose names begin with a word. */
export function usage(first?: string): string {
  const wanted = commands.filter(({ name }) => first === undefined || name.split(' ')[0] === first)
  const lines = new Map<string, { name: string; summary: string; group: NamedCommand['group'] }>()
  for (const { name, summary, group, operation } of wanted) {
    const [resource = '', verb = ''] = name.split(' ')
    const known = lines.get(resource)
    if (first !== undefined || operation === undefined) lines.set(name, { name, summary, group })
    else if (known === undefined) lines.set(resource, { name: resource, summary: verb, group })
    else lines.set(resource, { ...known, summary: `${known.summary}, ${verb}` })
  }
  const width = Math.max(...[...lines.values()].map(({ name }) => name.length))
  const sections = Object.entries(groups).flatMap(([group, title]) => {
    const own = [...lines.values()].filter((line) => line.group === group)
    if (own.length === 0) return []
    return [`${title}\n${own.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('')}`]
  })
  return `Deskwire, a desk service whose outside copies never drift.

${sections.join('\n')}
deskwire COMMAND --help says more; deskwire --version says which release this is.
`
}
