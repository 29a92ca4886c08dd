/** Every setting, once (specification 2.2): environment variable, flag, default and help all come from this table. */

import { parseArgs } from 'node:util'
import type { RateLimit } from './admission/rate-limit.ts'
import { isToken } from './auth/token.ts'
import {
  acceptedDatabases,
  type DatabasesSetting,
  databasesSetting,
  isDatabaseUrl,
  parseDatabases,
} from './db/databases.ts'
import { parseEncryptionKey } from './delivery/endpoint/secrets.ts'
import type { EgressProxy } from './delivery/model.ts'
import { parseTrustedTargets } from './delivery/send/address.ts'
import { parseDnsServers } from './delivery/send/name-servers.ts'
import { parseEgressProxy } from './delivery/send/tunnel.ts'
import { closest } from './kernel/closest.ts'
import { type Networks, parseNetworks } from './kernel/networks.ts'
import { parseOrigin } from './kernel/origins.ts'
import { fail, ok, type Result } from './kernel/outcome.ts'

interface Setting<V> {
  /** The environment variable; the flag is the remainder in lower case with hyphens. */
  readonly variable: string
  /** As text; absent: the value is null. */
  readonly default?: string
  /** For people. Default: the default itself, or none. */
  readonly defaultShown?: string
  readonly help: string
  /** What is accepted, as the end of "must be …". */
  readonly accepts: string
  readonly parse: (text: string) => V | undefined
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Keeps times within the range of dates; anything longer means never. */
const longest = '3650d'
/** Node's timers fire at once beyond 24 days. */
const longestTimer = '1h'

/** Milliseconds of a whole number with a unit; undefined for other text. */
function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return undefined
  return Number(count) * units[unit as keyof typeof units]
}

function parseWithin(text: string, most: string): number | undefined {
  const value = parseDuration(text)
  return value !== undefined && value <= (parseDuration(most) as number) ? value : undefined
}

const aDuration = 'a whole number and a unit: ms, s, m, h or d'

function duration(
  entry: { variable: string; default: string; help: string },
  most = longest,
): Setting<number> {
  const accepts = `${aDuration}, more than 0 and at most ${most}`
  return { ...entry, accepts, parse: (text) => parseWithin(text, most) || undefined }
}

function parseRetryDelays(text: string): readonly number[] | undefined {
  const delays = text.split(',').map((delay) => parseWithin(delay, longest))
  return delays.length <= 20 && delays.every((delay) => delay !== undefined) ? delays : undefined
}

/** `100/s, burst 500`; default burst: one second's worth; null (no limit) for 0. */
function parseRateLimit(text: string): RateLimit | null | undefined {
  if (text === '0') return null
  const [, rate, burst = rate] = /^(\d{1,6})\/s(?:, ?burst (\d{1,6}))?$/.exec(text) ?? []
  const limit = { perSecond: Number(rate), burst: Number(burst) }
  return limit.perSecond > 0 && limit.burst > 0 ? limit : undefined
}

const sizes = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const

function parseSwitch(text: string): boolean | undefined {
  return text === 'on' ? true : text === 'off' ? false : undefined
}

/** A whole number of bytes or of a unit; null (no limit) for 0. */
function parseSize(text: string): number | null | undefined {
  const [, count, unit] = /^(\d{1,15})(|KiB|MiB|GiB|TiB)$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return undefined
  const size = Number(count) * sizes[unit as keyof typeof sizes]
  return size === 0 ? null : Number.isSafeInteger(size) ? size : undefined
}

/** Origins in the form that browsers send: without path and default port. */
function parseOrigins(text: string): readonly string[] | undefined {
  const origins = text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
  const isOrigin = (origin: string) => /^https?:[^*]+$/.test(origin) && URL.parse(origin)?.origin === origin
  return origins.every(isOrigin) ? origins : undefined
}

/** The same for a policy, whose sources may not contain quotes, semicolons or IPv6 addresses. */
function parseFrameAncestors(text: string): readonly string[] | undefined {
  const origins = parseOrigins(text)
  return origins?.every((origin) => /^https?:\/\/[\w.-]+(?::\d+)?$/.test(origin)) ? origins : undefined
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined
}

function parseDatabaseUrl(text: string): string | undefined {
  return isDatabaseUrl(text) ? text : undefined
}

function parseIssuer(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? text : undefined
}

type Mcp = { readonly issuer: string | null } | null

/** Null: off. */
function parseMcp(text: string): Mcp | undefined {
  const isOn = parseSwitch(text)
  if (isOn !== undefined) return isOn ? { issuer: null } : null
  const issuer = parseIssuer(text)
  return issuer === undefined ? undefined : { issuer }
}

type Summarizer = 'off' | 'sentences' | { readonly model: string; readonly url: string }

/** The URL is one that paths can be appended to, and stays as it is written. */
function parseSummarizer(text: string): Summarizer | undefined {
  const isOn = parseSwitch(text)
  if (isOn !== undefined) return isOn ? 'sentences' : 'off'
  const [, model, base] = /^(\S{1,255}) +(https?:\/\/[^\s?#]+)$/.exec(text) ?? []
  const url = URL.parse(base ?? '')
  if (model === undefined || base === undefined || url === null) return undefined
  const isBase = url.username + url.password === '' && !/\/chat\/completions\/*$/.test(base)
  return isBase ? { model, url: base } : undefined
}

const roles = ['all', 'api', 'worker'] as const
type Role = (typeof roles)[number]

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

function setting<V>(entry: Setting<V>): Setting<V> {
  return entry
}

/** Of the API. */
export const defaultPort = 8080

export const settings = {
  host: setting({
    variable: 'DESKWIRE_HOST',
    default: '127.0.0.1',
    help: 'address to listen on',
    accepts: 'an IP address or a host name',
    parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  }),
  port: setting<number | null>({
    variable: 'DESKWIRE_PORT',
    defaultShown: `${defaultPort}; none in role worker`,
    help: 'port to listen on; a process of role worker answers /healthz, /readyz and /metrics there; 0 picks a free one, and the line "listening on" says which',
    accepts: 'a port from 0 to 65535',
    parse: parsePort,
  }),
  metricsPort: setting<number | null>({
    variable: 'DESKWIRE_METRICS_PORT',
    defaultShown: 'where the process listens anyway',
    help: 'port of its own for /metrics, which is then served on no other; 0 picks a free one, and the line "metrics on" says which',
    accepts: 'a port from 0 to 65535',
    parse: parsePort,
  }),
  databaseUrl: setting<string | null>({
    variable: 'DESKWIRE_DATABASE_URL',
    defaultShown: 'embedded',
    help: 'a PostgreSQL (15 or later) to use instead of the embedded one',
    accepts: 'a URL that begins with postgres:// or postgresql://',
    parse: parseDatabaseUrl,
  }),
  databaseDirectUrl: setting<string | null>({
    variable: 'DESKWIRE_DATABASE_DIRECT_URL',
    defaultShown: 'none: there is no pooler',
    help: 'the same database without the pooler that DESKWIRE_DATABASE_URL leads to, for what needs a session; with it that one may be in transaction mode',
    accepts: 'a URL that begins with postgres:// or postgresql://',
    parse: parseDatabaseUrl,
  }),
  databases: setting<DatabasesSetting | null>({
    variable: databasesSetting,
    defaultShown: 'one, that of DESKWIRE_DATABASE_URL',
    help: 'several databases, each with a name, over which organizations are spread; the first also knows which organization is where',
    accepts: acceptedDatabases,
    parse: parseDatabases,
  }),
  dataDir: setting({
    variable: 'DESKWIRE_DATA_DIR',
    default: './data',
    help: 'data directory of the embedded database',
    accepts: 'a path',
    parse: (text) => (text === '' ? undefined : text),
  }),
  bootstrapKey: setting<string | null>({
    variable: 'DESKWIRE_BOOTSTRAP_KEY',
    defaultShown: 'made and printed once',
    help: 'API key of the first organization, honoured only while no key exists',
    accepts: 'an API key: dwk_ and 36 characters with a right checksum',
    parse: (text) => (isToken(text) ? text : undefined),
  }),
  adminKey: setting<string | null>({
    variable: 'DESKWIRE_ADMIN_KEY',
    defaultShown: 'none: nothing answers there',
    help: 'key of the operator for /admin/v1, which creates, suspends, moves and deletes organizations',
    accepts: '32 to 200 letters, digits, hyphens and underscores',
    parse: (text) => (/^[\w-]{32,200}$/.test(text) ? text : undefined),
  }),
  firstKeyFile: setting<string | null>({
    variable: 'DESKWIRE_FIRST_KEY_FILE',
    defaultShown: 'none: the key is printed',
    help: 'file that the first API key is written to, readable by its owner alone, instead of printing it; one that exists is not overwritten',
    accepts: 'the path of a file',
    parse: (text) => text || undefined,
  }),
  role: setting<Role>({
    variable: 'DESKWIRE_ROLE',
    default: 'all',
    help: 'what this process does; any number of each may share one database',
    accepts: `one of ${roles.join(', ')}`,
    parse: (text) => roles.find((role) => role === text),
  }),
  encryptionKey: setting<Buffer | null>({
    variable: 'DESKWIRE_ENCRYPTION_KEY',
    defaultShown: 'generated into the data dir',
    help: 'encrypts signing secrets at rest; required with DESKWIRE_DATABASE_URL or DESKWIRE_DATABASES',
    accepts: '32 bytes in base64, as openssl rand -base64 32 prints them',
    parse: parseEncryptionKey,
  }),
  encryptionKeyPrevious: setting<Buffer | null>({
    variable: 'DESKWIRE_ENCRYPTION_KEY_PREVIOUS',
    help: 'the key that DESKWIRE_ENCRYPTION_KEY replaces, or is replaced by, until deskwire encryption-key rotate is done',
    accepts: '32 bytes in base64, as openssl rand -base64 32 prints them',
    parse: parseEncryptionKey,
  }),
  trustedTargets: setting<Networks>({
    variable: 'DESKWIRE_TRUSTED_TARGETS',
    default: '',
    help: 'address ranges that receivers may have though they are not public (tests, private networks); after nat64:, a prefix whose addresses are judged by the IPv4 address in them',
    accepts:
      'a comma-separated list of CIDRs, for example 127.0.0.0/8, or nat64:2001:db8:64::/96 with a prefix of 32, 40, 48, 56, 64 or 96 bits',
    parse: parseTrustedTargets,
  }),
  targetCa: setting<string | null>({
    variable: 'DESKWIRE_TARGET_CA',
    help: "PEM file of certificate authorities that receivers may have in addition to Node's and the system's",
    accepts: 'a path',
    parse: (text) => text,
  }),
  egressProxy: setting<EgressProxy | null>({
    variable: 'DESKWIRE_EGRESS_PROXY',
    help: 'proxy that deliveries go through, by CONNECT to the checked address; for networks without another way out',
    accepts: 'an http or https URL of a host, with credentials if the proxy wants them',
    parse: parseEgressProxy,
  }),
  dnsServers: setting<readonly string[] | null>({
    variable: 'DESKWIRE_DNS_SERVERS',
    defaultShown: "the system's",
    help: 'name servers that resolve receivers',
    accepts: 'a comma-separated list of ip or ip:port',
    parse: parseDnsServers,
  }),
  retryDelays: setting<readonly number[]>({
    variable: 'DESKWIRE_RETRY_DELAYS',
    default: '1m,5m,30m,2h,8h',
    help: 'how long after a failed attempt the next one is made, one per automatic retry',
    accepts: `a comma-separated list of at most 20 durations, each ${aDuration}, at most ${longest}`,
    parse: parseRetryDelays,
  }),
  answerTimeout: duration(
    {
      variable: 'DESKWIRE_ANSWER_TIMEOUT',
      default: '10s',
      help: 'a whole attempt: resolve, connect, TLS, send, status, headers',
    },
    longestTimer,
  ),
  disableAfter: duration({
    variable: 'DESKWIRE_DISABLE_AFTER',
    default: '72h',
    help: 'continuous failure before an endpoint is disabled',
  }),
  rotationOverlap: duration({
    variable: 'DESKWIRE_ROTATION_OVERLAP',
    default: '24h',
    help: 'how long a replaced secret goes on signing',
  }),
  logRetention: duration({
    variable: 'DESKWIRE_LOG_RETENTION',
    default: '30d',
    help: 'how far back the delivery log goes',
  }),
  rateLimit: setting<RateLimit | null>({
    variable: 'DESKWIRE_RATE_LIMIT',
    default: '100/s, burst 500',
    help: 'how often an API key may call, in each process of the API; 0 turns the limit off',
    accepts: 'a rate and a burst, for example 100/s, burst 500; or 0',
    parse: parseRateLimit,
  }),
  mcp: setting<Mcp>({
    variable: 'DESKWIRE_MCP',
    default: 'off',
    help: 'on: agents may use the service by the Model Context Protocol, at /mcp, with API keys; an OAuth issuer: also with its access tokens, which needs DESKWIRE_PUBLIC_URL',
    accepts:
      'on, off, or an https URL (http on this machine), exactly as the issuer writes it, without user info, query or fragment',
    parse: parseMcp,
  }),
  summarizer: setting<Summarizer>({
    variable: 'DESKWIRE_SUMMARIZER',
    default: 'on',
    help: 'on: picks sentences; a model and a URL: asks it at an OpenAI-compatible chat endpoint; off: leaves summaries to the action summarize; to be set where workers run',
    accepts:
      'on, off, or the name of a model and the http or https URL below which its endpoint serves /chat/completions, without user info or query, for example qwen3:8b http://localhost:11434/v1',
    parse: parseSummarizer,
  }),
  maxRows: setting<number | null>({
    variable: 'DESKWIRE_MAX_ROWS',
    default: '0',
    help: 'objects of all kinds that an organization may have; creations beyond are answered 409; 0 turns the limit off',
    accepts: 'a whole number, at most 999999999999',
    parse: (text) => (/^\d{1,12}$/.test(text) ? Number(text) || null : undefined),
  }),
  maxBytes: setting<number | null>({
    variable: 'DESKWIRE_MAX_BYTES',
    default: '0',
    help: 'bytes that the representations of these, and stored responses, may have together; likewise',
    accepts: 'a whole number of bytes, or of KiB, MiB, GiB or TiB, for example 10GiB, below 8 PiB',
    parse: parseSize,
  }),
  publicUrl: setting<string | null>({
    variable: 'DESKWIRE_PUBLIC_URL',
    defaultShown: 'none: what requests are sent to',
    help: 'the URL by which clients reach the service, for console links; with https, answers have Strict-Transport-Security',
    accepts:
      'an http or https URL of a host, with or without a port, and without path, user info, query or fragment, for example https://desk.example.com',
    parse: parseOrigin,
  }),
  trustedProxies: setting<Networks>({
    variable: 'DESKWIRE_TRUSTED_PROXIES',
    default: '',
    help: "proxies whose X-Forwarded-For, -Proto and -Host are believed: the client's address, for limits, and the URL that it called",
    accepts: 'a comma-separated list of CIDRs, for example 10.0.0.0/8',
    parse: parseNetworks,
  }),
  webhookAddresses: setting<Networks>({
    variable: 'DESKWIRE_WEBHOOK_ADDRESSES',
    default: '',
    help: 'addresses that deliveries come from, shown to receivers at /.well-known/webhook-addresses.json',
    accepts: 'a comma-separated list of addresses and CIDRs, for example 203.0.113.7,2001:db8::/64',
    parse: parseNetworks,
  }),
  corsOrigins: setting<readonly string[]>({
    variable: 'DESKWIRE_CORS_ORIGINS',
    default: '',
    help: 'origins whose pages may call the API from a browser',
    accepts: 'a comma-separated list of origins without path or usual port, for example https://app.example',
    parse: parseOrigins,
  }),
  consoleFrameAncestors: setting<readonly string[]>({
    variable: 'DESKWIRE_CONSOLE_FRAME_ANCESTORS',
    default: '',
    help: 'origins whose pages may show the console in a frame',
    accepts: 'a comma-separated list of origins without path or usual port, for example https://app.example',
    parse: parseFrameAncestors,
  }),
  summaryDelay: duration({
    variable: 'DESKWIRE_SUMMARY_DELAY',
    default: '2m',
    help: 'from the resolution of a conversation to its summary',
  }),
  summarizerKey: setting<string | null>({
    variable: 'DESKWIRE_SUMMARIZER_KEY',
    help: 'sent to the endpoint of DESKWIRE_SUMMARIZER as a bearer token',
    accepts: 'visible ASCII characters',
    parse: (text) => (/^[\x21-\x7e]+$/.test(text) ? text : undefined),
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

/** Keys, and URLs that may contain a password, must not be logged. */
const secret = new Set([
  'adminKey',
  'bootstrapKey',
  'databaseUrl',
  'databaseDirectUrl',
  'databases',
  'egressProxy',
  'encryptionKey',
  'encryptionKeyPrevious',
  'summarizerKey',
])

/** `--data-dir` for DESKWIRE_DATA_DIR. */
export function flagOf(variable: string): string {
  return variable
    .replace(/^DESKWIRE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

/**
 * The settings; a flag wins over its variable. The error is one line with the setting, its value and what is accepted.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: readonly string[] = [],
): Result<Config, string> {
  const entries = Object.entries<Setting<unknown>>(settings)
  const options = Object.fromEntries(
    entries.map(([, { variable }]) => [flagOf(variable), { type: 'string' as const }]),
  )
  const given = flags.map((flag) => flag.split('=', 1)[0])
  const left = Object.entries(former).find(([variable]) => given.includes(`--${flagOf(variable)}`))
  if (left !== undefined) return fail(`--${flagOf(left[0])} is no longer a setting: ${left[1]}`)
  let values: Record<string, unknown>
  try {
    values = parseArgs({ args: [...flags], options }).values
  } catch (error) {
    return fail(`${(error as Error).message.split(/\.\s/)[0]}; see deskwire serve --help`)
  }
  const config: Record<string, unknown> = {}
  for (const [name, entry] of entries) {
    const flag = flagOf(entry.variable)
    const fromFlag = values[flag]
    const fromVariable = isServiceLink(entry.variable, environment[entry.variable])
      ? undefined
      : environment[entry.variable]
    const text = typeof fromFlag === 'string' ? fromFlag : fromVariable || entry.default
    if (text === undefined) {
      config[name] = null
      continue
    }
    const value = entry.parse(text)
    if (value === undefined) {
      const source = typeof fromFlag === 'string' ? `--${flag}` : entry.variable
      const shown = secret.has(name) ? 'what is set' : JSON.stringify(text)
      return fail(`${source}: ${shown} is not accepted; it must be ${entry.accepts}`)
    }
    config[name] = value
  }
  return ok(config as Config)
}

/** Settings of before, with what replaces them. */
const former: Readonly<Record<string, string>> = {
  DESKWIRE_MCP_ISSUER: 'DESKWIRE_MCP takes the issuer',
  DESKWIRE_SEARCH_TIMEOUT: 'a search ends after 2 seconds',
  DESKWIRE_SUMMARIZER_MODEL: 'DESKWIRE_SUMMARIZER takes the model and the URL',
  DESKWIRE_SUMMARIZER_TIMEOUT: 'a request for a summary ends after 2 minutes',
  DESKWIRE_SUMMARIZER_URL: 'DESKWIRE_SUMMARIZER takes the model and the URL',
  DESKWIRE_WORKER_PORT: 'a process of role worker listens on DESKWIRE_PORT',
}

const otherVariables = [
  'DESKWIRE_URL',
  'DESKWIRE_API_KEY',
  'DESKWIRE_PROFILE',
  'DESKWIRE_WEBHOOK_SECRET',
  'DESKWIRE_HASH_KEY',
]

/**
 * Whether Kubernetes, or a link of Docker, has set the variable for a Service: of one named `deskwire` come
 * `DESKWIRE_PORT=tcp://10.0.0.1:8080`, `DESKWIRE_SERVICE_HOST`, `DESKWIRE_PORT_8080_TCP_ADDR` and more.
 */
function isServiceLink(variable: string, value = ''): boolean {
  return (
    (variable.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value)) ||
    /(?:_SERVICE_(?:HOST|PORT(?:_\w+)?)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/.test(variable)
  )
}

interface Warning {
  readonly found: string
  readonly advice: string
}

/**
 * Variables that look like settings and have no effect: those of Kubernetes together, others with what replaces them
 * or the most similar setting.
 */
export function ineffectiveVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly Warning[] {
  const ours = Object.keys(environment).filter((name) => name.startsWith('DESKWIRE_'))
  const links = ours.filter((name) => isServiceLink(name, environment[name]))
  const known = Object.values<Setting<unknown>>(settings).map(({ variable }) => variable)
  const unknown = ours.filter((name) => ![...known, ...otherVariables, ...links].includes(name))
  const warnings = unknown.map((name) => ({
    found: `${name} is ${name in former ? 'no longer' : 'not'} a setting and has no effect`,
    advice: former[name] ?? `the most similar setting is ${closest(name, known)}`,
  }))
  if (links.length === 0) return warnings
  const found = `${links.join(', ')}: Kubernetes sets these for a Service, and they have no effect`
  return [...warnings, { found, advice: 'enableServiceLinks: false in the pod leaves them out' }]
}

/** The default of a setting, for people. */
export function shownDefault({ default: value, defaultShown }: Setting<unknown>): string {
  return defaultShown ?? (value || 'none')
}

/** One line per setting: flag, variable, default, meaning. */
export function settingsHelp(): string {
  return Object.values<Setting<unknown>>(settings)
    .map((entry) => {
      const flag = `--${flagOf(entry.variable)}`.padEnd(21)
      return `  ${flag} ${entry.variable.padEnd(28)} ${entry.help} (${shownDefault(entry)})`
    })
    .join('\n')
}
