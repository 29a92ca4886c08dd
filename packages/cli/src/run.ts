/** Finds the command that words name, runs it, and turns an expected failure into one line and an exit code. */
import { commands, usage } from './commands.ts'
import { CommandFailure, exitCodes, outputLost } from './failure.ts'
import { plain, printError, printOut } from './terminal.ts'
import { UsageError } from './usage-error.ts'

interface Ended {
  /** Whether something of it may keep the process alive. */
  readonly keepsProcess: boolean
}

const ended: Ended = { keepsProcess: false }

/** Never rejects: the exit code says how it ended. */
export async function runDeskwire(words: readonly string[]): Promise<Ended> {
  try {
    await run(words)
    return ended
  } catch (error) {
    // What follows from an output that is gone is no failure of its own.
    if (outputLost.aborted && error === outputLost.reason) process.exitCode = exitCodes.done
    else if (error instanceof UsageError) fail(error.message, exitCodes.notAccepted)
    else if (error instanceof CommandFailure) fail(error.message, error.exitCode)
    else return explain(error)
    return ended
  }
}

async function run(given: readonly string[]): Promise<void> {
  if (given.length === 0 || given[0] === 'help') {
    printOut(usage())
    return
  }
  if (given[0] === '--version' || given[0] === '-v') {
    const { version } = await import('@deskwire/service/version')
    printOut(`${version}\n`)
    return
  }
  // The longest name first: `org create` before `org`.
  const command = commands.find(({ name }) => name.split(' ').every((word, n) => given[n] === word))
  if (command === undefined) {
    // `deskwire org --help`: half a name, but the question is clear.
    if (isHelp(given.at(-1))) {
      printOut(usage())
      return
    }
    const names = commands.map(({ name }) => name).join(', ')
    throw new UsageError(`there is no command "${given.slice(0, 2).join(' ')}"; there are: ${names}`)
  }
  const rest = given.slice(command.name.split(' ').length)
  const { help, run } = await command.load()
  if (rest.some(isHelp)) {
    printOut(help())
    return
  }
  await run(rest)
}

/** Failures that the libraries expect; their own code is loaded by now, as it threw them. */
async function explain(error: unknown): Promise<Ended> {
  const { DeskwireError } = await import('@deskwire/sdk')
  if (error instanceof DeskwireError) {
    fail(error.status === 0 ? error.detail + unusedProxy() : error.message, exitCodes.failed)
    return ended
  }
  const {
    BackupError,
    DatabasesError,
    DeletionError,
    EmbeddedDatabaseError,
    InstallationError,
    explainDatabaseFailure,
    ListenError,
    MigrationError,
    MoveError,
    PoolerError,
    SettingError,
    UnfinishedError,
  } = await import('@deskwire/service')
  // Trying again changes nothing: the unit of systemd does not restart these.
  if (error instanceof SettingError || error instanceof DatabasesError || error instanceof PoolerError) {
    fail(error.message, exitCodes.notAccepted)
    return ended
  }
  if (
    error instanceof ListenError ||
    error instanceof MigrationError ||
    error instanceof BackupError ||
    error instanceof InstallationError ||
    error instanceof DeletionError ||
    error instanceof MoveError ||
    error instanceof UnfinishedError ||
    error instanceof EmbeddedDatabaseError
  ) {
    fail(error.message, exitCodes.failed)
    return ended
  }
  const line = explainDatabaseFailure(error) ?? explainFileFailure(error) ?? explainRefusal(error)
  fail(line ?? unforeseen(error), exitCodes.failed)
  return { keepsProcess: true }
}

/** Node passes over the variables that other programs take their proxy from. */
function unusedProxy(): string {
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((one) => process.env[one])
  if (name === undefined || process.env.NODE_USE_ENV_PROXY === '1') return ''
  return ` ${name} is set and was not used: with NODE_USE_ENV_PROXY=1 Node (22.21, 24 and later) goes through that proxy.`
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

export function fail(message: string, code: number): void {
  // A stack has lines of its own.
  printError(`deskwire: ${process.env.NODE_DEBUG === 'deskwire' ? message : plain(message)}\n`)
  process.exitCode = code
}

/** A file or directory that cannot be used: the system's message names it. */
function explainFileFailure(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error ? error.message : null
}

/** PostgreSQL did not do what it was asked, for a reason that nobody has foreseen. */
function explainRefusal(error: unknown): string | null {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return null
  return `the database refused a statement: ${error.message} (SQLSTATE ${error.code}); run the command again, and report it if that does not help`
}

/** A fault of the program: the stack says where, for a report. */
function unforeseen(error: unknown): string {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (process.env.NODE_DEBUG === 'deskwire') return stack ?? message
  return `unexpected failure: ${message.split('\n', 1)[0]}; run the command again, and report it with what NODE_DEBUG=deskwire shows if that does not help`
}
