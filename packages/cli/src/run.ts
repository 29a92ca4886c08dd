/** Finds the command that words name, runs it, and turns an expected failure into one line and an exit code. */
import { commandOf, commands, isNotInstalled, loadCommand, usage } from './commands.ts'
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

async function run(words: readonly string[]): Promise<void> {
  const isQuestion = words[0] === 'help' && words.length > 1
  const given = isQuestion ? [...words.slice(1), '--help'] : words
  if (given.length === 0 || given[0] === 'help') {
    printOut(usage())
    return
  }
  if (given[0] === '--version' || given[0] === '-v') {
    const { commit, version } = await import('@deskwire/service/version')
    printOut(`${version} (${commit ?? 'from a checkout'})\n`)
    return
  }
  const found = commandOf(given)
  if (found === null) {
    const [first = ''] = given
    const isKnown = commands.some(({ name }) => name.startsWith(`${first} `))
    // `deskwire organizations --help`: half a name, but the question is clear.
    if (isHelp(given.at(-1)) && (given.length === 1 || (isKnown && given.length === 2))) {
      printOut(usage(isKnown ? first : undefined))
      return
    }
    throw new UsageError(
      await unknownCommand(
        given.filter((word) => !isHelp(word)),
        isKnown,
      ),
    )
  }
  const { command } = found
  const rest = given.slice(found.words)
  const loaded = await loadCommand(command)
  if (loaded === null)
    throw new CommandFailure(
      `${command.name} is a command of the server, and this is the client alone (@deskwire/cli): install the package deskwire, which has both`,
    )
  const { help, run } = loaded
  if (rest.some(isHelp)) {
    printOut(help())
    return
  }
  await run(rest)
}

/** Of a half name its commands; of an unknown one what was probably meant. */
async function unknownCommand(given: readonly string[], isKnown: boolean): Promise<string> {
  const [first = ''] = given
  if (isKnown && given.length === 1) {
    const verbs = commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.split(' ')[1]] : []))
    return `${first} needs one of: ${verbs.join(', ')}`
  }
  const { closest } = await import('@deskwire/service/closest')
  // What begins otherwise was hardly meant.
  const meant = meantBy(given, isKnown, closest).filter((name) =>
    name.split(/[ -]/).some((part) => part[0] === first[0]),
  )
  const question = meant.map((name) => `"deskwire ${name}"`).join(' or ')
  const asked = given.slice(0, 2).join(' ')
  return `there is no command "${asked}"${question === '' ? ';' : `; did you mean ${question}?`} deskwire --help lists them all`
}

/** Commands that have the second word, or a first word that has it as a part, or the most similar. */
function meantBy(
  [first = '', verb]: readonly string[],
  isKnown: boolean,
  closest: (text: string, words: readonly string[]) => string,
): readonly string[] {
  const names = commands.map(({ name }) => name)
  const ofFirst = names.filter((name) => name.startsWith(`${first} `))
  if (isKnown) return [closest(`${first} ${verb}`, ofFirst)]
  const ofVerb = names.filter((name) => name.split(' ')[1] === first)
  if (ofVerb.length > 0 && ofVerb.length <= mostMeant) return ofVerb
  const firsts = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))]
  const having = firsts.filter((one) => one.split('-').some((part) => part.startsWith(first)))
  const near = having.length > 0 && having.length <= mostMeant ? having : [closest(first, firsts)]
  const whole = near.map((one) => `${one} ${verb}`).filter((name) => names.includes(name))
  return whole.length > 0 ? whole : near.map((one) => (names.includes(one) ? one : `${one} --help`))
}

const mostMeant = 3

/** Failures that the libraries expect; their own code is loaded by now, as it threw them. */
async function explain(error: unknown): Promise<Ended> {
  const { DeskwireError } = await import('@deskwire/sdk')
  if (error instanceof DeskwireError) {
    fail(error.status === 0 ? error.detail + unusedProxy() : error.message, exitCodes.failed)
    return ended
  }
  const service = await import('@deskwire/service').catch(unlessInstalled)
  if (service !== null) {
    const { SettingError, DatabasesError, PoolerError } = service
    // Trying again changes nothing: the unit of systemd does not restart these.
    if (error instanceof SettingError || error instanceof DatabasesError || error instanceof PoolerError) {
      fail(error.message, exitCodes.notAccepted)
      return ended
    }
    const expected = [
      service.ListenError,
      service.MigrationError,
      service.BackupError,
      service.InstallationError,
      service.DeletionError,
      service.MoveError,
      service.UnfinishedError,
      service.EmbeddedDatabaseError,
    ]
    if (error instanceof Error && expected.some((one) => error instanceof one)) {
      fail(error.message, exitCodes.failed)
      return ended
    }
  }
  const ofDatabase = service?.explainDatabaseFailure(error) ?? null
  const line = ofDatabase ?? explainFileFailure(error) ?? explainRefusal(error)
  fail(line ?? unforeseen(error), exitCodes.failed)
  return { keepsProcess: true }
}

/** What was not loaded has thrown nothing. */
function unlessInstalled(error: unknown): null {
  if (isNotInstalled(error)) return null
  throw error
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
