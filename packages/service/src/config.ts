/** Every setting, once: environment variable, flag, default and help all come from this table. */
import { parseArgs } from 'node:util'
import { isToken } from './access/token.ts'
import { fail, ok, type Result } from './kernel/result.ts'

interface Setting<V> {
  /** The environment variable; the flag is its rest in lower case with hyphens. */
  readonly variable: string
  /** As it would be written; null when there is none. */
  readonly default: string | null
  readonly defaultShown?: string
  readonly help: string
  /** What is accepted, as the end of "must be …". */
  readonly accepts: string
  /** Undefined when the text is not accepted. */
  readonly parse: (text: string) => V | undefined
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function setting<V>(entry: Setting<V>): Setting<V> {
  return entry
}

export const settings = {
  host: setting({
    variable: 'DESKWIRE_HOST',
    default: '127.0.0.1',
    help: 'address to listen on',
    accepts: 'an IP address or a host name',
    parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  }),
  port: setting({
    variable: 'DESKWIRE_PORT',
    default: '8080',
    help: 'port to listen on; 0 picks a free one, and the line "listening on" says which',
    accepts: 'a port from 0 to 65535',
    parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  }),
  databaseUrl: setting<string | null>({
    variable: 'DESKWIRE_DATABASE_URL',
    default: null,
    defaultShown: 'embedded',
    help: 'a PostgreSQL (15 or later) to use instead of the embedded one',
    accepts: 'a URL that begins with postgres:// or postgresql://',
    // A socket's URL names no host before the path (`postgres://user@/database?host=/run/postgresql`).
    parse: (text) =>
      /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@socket/')) ? text : undefined,
  }),
  dataDir: setting({
    variable: 'DESKWIRE_DATA_DIR',
    default: './data',
    help: "the embedded database's home",
    accepts: 'a path',
    parse: (text) => (text === '' ? undefined : text),
  }),
  bootstrapKey: setting<string | null>({
    variable: 'DESKWIRE_BOOTSTRAP_KEY',
    default: null,
    defaultShown: 'made and printed once',
    help: 'API key of the first organization, honoured only while no key exists',
    accepts: 'an API key: dwk_ and 36 characters with a right checksum',
    parse: (text) => (isToken(text) ? text : undefined),
  }),
  logLevel: setting<(typeof logLevels)[number]>({
    variable: 'DESKWIRE_LOG_LEVEL',
    default: 'info',
    help: 'what the log (JSON lines on standard error) shows',
    accepts: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((level) => level === text),
  }),
} as const

type Settings = typeof settings
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer V> ? V : never }

/** The flag of a setting: `--data-dir` for DESKWIRE_DATA_DIR. */
export function flagOf(variable: string): string {
  return variable
    .replace(/^DESKWIRE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

/**
 * The settings from flags and environment, a flag before its variable. The error is one line that names the
 * setting, the value and what is accepted.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: readonly string[] = [],
): Result<Config, string> {
  const entries = Object.entries<Setting<unknown>>(settings)
  const options = Object.fromEntries(
    entries.map(([, { variable }]) => [flagOf(variable), { type: 'string' as const }]),
  )
  let given: Record<string, unknown>
  try {
    given = parseArgs({ args: [...flags], options }).values
  } catch (error) {
    return fail(`${(error as Error).message.split(/\.\s/)[0]}; see deskwire serve --help`)
  }
  const config: Record<string, unknown> = {}
  for (const [name, entry] of entries) {
    const flag = flagOf(entry.variable)
    const fromFlag = given[flag]
    const text = typeof fromFlag === 'string' ? fromFlag : environment[entry.variable] || entry.default
    if (text === null) {
      config[name] = null
      continue
    }
    const value = entry.parse(text)
    if (value === undefined) {
      const source = typeof fromFlag === 'string' ? `--${flag}` : entry.variable
      // A key or a URL with a password in it must not end up in a log.
      const shown = name === 'bootstrapKey' || name === 'databaseUrl' ? 'what is set' : JSON.stringify(text)
      return fail(`${source}: ${shown} is not accepted; it must be ${entry.accepts}`)
    }
    config[name] = value
  }
  return ok(config as Config)
}

/** A line per setting: flag, variable, default, meaning. */
export function settingsHelp(): string {
  return Object.values<Setting<unknown>>(settings)
    .map(({ variable, default: value, defaultShown, help }) => {
      const flag = `--${flagOf(variable)}`.padEnd(18)
      return `  ${flag} ${variable.padEnd(26)} ${help} (${defaultShown ?? value})`
    })
    .join('\n')
}
