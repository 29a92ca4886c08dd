/**
 * Checks what an installation needs: settings, database, keys, name servers, receivers, disk. It changes nothing, and
 * runs with or without a service; an embedded database that is not running is started meanwhile. The checks are
 * independent of each other, as far as there is something to check.
 */
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type Config, ineffectiveVariables } from '../config.ts'
import { readDatabaseClock } from '../db/clock.ts'
import { DatabasesError, databasesSetting } from '../db/databases.ts'
import { embedded } from '../db/embedded.ts'
import { namedDatabases, type OpenDatabase, openDatabaseBeside } from '../db/open.ts'
import { exempted } from '../delivery/send/address.ts'
import { systemClock } from '../kernel/timestamps.ts'
import {
  requireEncryptionKey,
  type SendingSettings,
  SettingError,
  sendingSettingsOf,
  summarySettingsOf,
} from '../roles/delivery-settings.ts'
import {
  checkClock,
  checkConnections,
  checkLog,
  checkMaintenance,
  checkMigrations,
  checkPooler,
  checkRole,
  checkServer,
  checkStreamClock,
  findingOfFailure,
  hasSchema,
} from './database.ts'
import { type Finding, failedAsTheStart, findingsOf } from './finding.ts'
import { checkKeyFile, checkKeys, keysOfConfig } from './keys.ts'
import { checkDns, checkReceivers, type Receiver, receiverOf, receiversOf } from './receivers.ts'

export interface Examination {
  readonly config: Config
  readonly environment: Readonly<Record<string, string | undefined>>
  /** A URL, or the id of an endpoint, to connect to; null: existing endpoints. */
  readonly endpoint: string | null
  readonly log: Logger
}

export async function examine({
  config,
  environment,
  endpoint,
  log,
}: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [...checkVariables(environment)]
  const settings = await settingsOf(config).catch((error: unknown) => {
    if (!(error instanceof SettingError)) throw error
    findings.push(failedAsTheStart('settings', error.message))
    return null
  })
  if (settings !== null) findings.push(settingsFinding(config))
  let receivers: readonly Receiver[] =
    endpoint !== null && isUrl(endpoint) ? [{ id: 'URL', url: endpoint }] : []
  for (const { name, config: own } of await eachDatabase(config, (finding) => findings.push(finding))) {
    const found: Finding[] = []
    const database = await open(own, log, (finding) => found.push(finding))
    if (database !== null) {
      try {
        found.push(...(await examineDatabase(database.pool, own)))
        if (await isReadable(database.pool))
          receivers = [...receivers, ...(await receiversFrom(database.pool, endpoint, receivers))]
      } finally {
        await database.close()
      }
    }
    findings.push(...(name === null ? found : found.map((finding) => inWordsOf(name, finding))))
  }
  if (settings !== null) {
    findings.push(await checkDns(settings, systemClock))
    findings.push(...(await examineReceivers(receivers, settings, endpoint)))
  }
  if (config.databaseUrl === null && config.databases === null)
    findings.push(await checkDisk(nearest(config.dataDir)))
  return findings
}

/** Each database as the only one; calls `report` with the reason when there is none. */
async function eachDatabase(
  config: Config,
  report: (finding: Finding) => void,
): Promise<readonly { readonly name: string | null; readonly config: Config }[]> {
  try {
    const named = await namedDatabases(config)
    if (named === null) return [{ name: null, config }]
    return named.map(({ name, url, directUrl }) => ({
      name,
      config: { ...config, databases: null, databaseUrl: url, databaseDirectUrl: directUrl },
    }))
  } catch (error) {
    if (!(error instanceof DatabasesError)) throw error
    report(failedAsTheStart('settings', error.message))
    return []
  }
}

/** A finding about one of several databases, with its name and its setting. */
function inWordsOf(name: string, { check, verdict, found, advice }: Finding): Finding {
  const named = `the URL of ${name} in ${databasesSetting}`
  const spelled = (text: string) => text.replaceAll(/DESKWIRE_DATABASE_(?:DIRECT_)?URL/g, named)
  return {
    check: `${check} ${name}`,
    verdict,
    found: spelled(found),
    advice: advice === null ? null : spelled(advice),
  }
}

function checkVariables(environment: Examination['environment']): readonly Finding[] {
  const finding = findingsOf('settings')
  return ineffectiveVariables(environment).map(({ found, advice }) => finding.warning(found, advice))
}

/** The settings that a start reads, except the key, which has its own check. */
async function settingsOf(config: Config): Promise<SendingSettings> {
  requireEncryptionKey(config)
  summarySettingsOf(config)
  return sendingSettingsOf(config)
}

function settingsFinding({ role, databaseUrl, databases, dataDir, trustedTargets }: Config): Finding {
  const alone = databaseUrl === null ? `the embedded database in ${dataDir}` : 'a PostgreSQL of your own'
  const where = databases === null ? alone : 'several databases'
  const trust =
    exempted(trustedTargets).length === 0
      ? ''
      : '; receivers may have addresses that are not public (DESKWIRE_TRUSTED_TARGETS)'
  return findingsOf('settings').ok(`they are accepted: role ${role}, ${where}${trust}`)
}

/** The database; calls `report` with the reason when there is none. */
async function open(
  config: Config,
  log: Logger,
  report: (finding: Finding) => void,
): Promise<OpenDatabase | null> {
  const isEmbedded = config.databaseUrl === null && config.databaseDirectUrl === null
  if (isEmbedded && !embedded.has(config.dataDir)) {
    report(
      findingsOf('database').warning(
        `there is none in ${resolve(config.dataDir)}`,
        'name its home with --data-dir (DESKWIRE_DATA_DIR), if there is one; otherwise the next start makes it',
      ),
    )
    return null
  }
  try {
    return await openDatabaseBeside(config, log)
  } catch (error) {
    const finding = findingOfFailure(error)
    if (finding === null) throw error
    report(finding)
    return null
  }
}

async function examineDatabase(pool: Pool, config: Config): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  try {
    const server = await checkServer(pool)
    findings.push(...server)
    if (server.some(({ verdict, found }) => verdict === 'failed' && found.startsWith('the server is')))
      return findings
    const pooler = await checkPooler(config)
    if (pooler !== null) findings.push(pooler)
    findings.push(await checkConnections(pool))
    const role = await checkRole(pool)
    findings.push(role)
    // Skipped without the privilege to read.
    if (role.verdict !== 'failed') findings.push(await checkMigrations(pool))
    const clock = await readDatabaseClock(pool)
    findings.push(checkClock(clock, systemClock))
    const keyFile = await checkKeyFile(config)
    if (keyFile !== null) findings.push(keyFile)
    if (await isReadable(pool)) {
      findings.push(...(await checkKeys(pool, await keysOfConfig(config), config)))
      const ahead = await checkStreamClock(pool, clock)
      if (ahead !== null) findings.push(ahead)
      findings.push(await checkLog(pool, clock), await checkMaintenance(pool, clock, config.logRetention))
    }
  } catch (error) {
    const finding = findingOfFailure(error)
    if (finding === null) throw error
    findings.push(finding)
  }
  return findings
}

/** Whether its tables have this release's schema and can be read. */
async function isReadable(pool: Pool): Promise<boolean> {
  try {
    return (await hasSchema(pool)) && (await checkMigrations(pool)).verdict === 'ok'
  } catch {
    return false
  }
}

async function receiversFrom(
  pool: Pool,
  endpoint: string | null,
  given: readonly Receiver[],
): Promise<readonly Receiver[]> {
  if (endpoint === null) return receiversOf(pool)
  if (given.length > 0) return []
  const found = await receiverOf(pool, endpoint)
  return found === null ? [] : [found]
}

async function examineReceivers(
  receivers: readonly Receiver[],
  settings: SendingSettings,
  endpoint: string | null,
): Promise<readonly Finding[]> {
  const finding = findingsOf('endpoint')
  if (receivers.length === 0) {
    return [
      endpoint === null
        ? finding.ok('no active one is there to be reached')
        : finding.failed(
            `there is no endpoint ${endpoint}`,
            'give its id, or a URL that begins with https://',
          ),
    ]
  }
  return checkReceivers(receivers, { settings, clock: systemClock, isNamed: endpoint !== null })
}

const isUrl = (text: string) => text.includes('://')

/** The directory, or its nearest existing parent. */
function nearest(directory: string): string {
  const path = resolve(directory)
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path))
}

const gibibyte = 2 ** 30

/** A checkpoint may need as much space as the WAL may grow to. Bytes. */
const disk = { failed: gibibyte / 4, warning: 3 * gibibyte }

export async function checkDisk(directory: string): Promise<Finding> {
  const { bsize, bavail, blocks } = await statfs(directory)
  return diskFinding({ free: bsize * bavail, total: bsize * blocks, directory })
}

export function diskFinding(space: { free: number; total: number; directory: string }): Finding {
  const finding = findingsOf('disk')
  const shown = (bytes: number) => `${(bytes / gibibyte).toFixed(1)} GiB`
  const seen = `${shown(space.free)} of ${shown(space.total)} are free where ${space.directory} is`
  const advice =
    'make space: a database that cannot write stops, and starts again when it can. What takes most: see docs/guides/capacity.md'
  if (space.free < disk.failed) return finding.failed(seen, advice)
  if (space.free < disk.warning) return finding.warning(seen, advice)
  return finding.ok(seen)
}
