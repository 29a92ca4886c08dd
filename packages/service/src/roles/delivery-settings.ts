/** The settings of deliveries and summaries, read from the configuration and the files that it names. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { type Config, settings } from '../config.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import { trustAuthorities } from '../delivery/send/dial.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'
import { claimKey } from '../webhooks/installation-key.ts'
import { loadOrCreateEncryptionKey } from '../webhooks/secrets.ts'

/** A setting that names something that cannot be used; the message says which, and what is accepted. */
export class SettingError extends Error {}

/** @throws SettingError when a database of one's own is used without a key of one's own. */
export function requireEncryptionKey({ databaseUrl, encryptionKey }: Config): void {
  if (databaseUrl === null || encryptionKey !== null) return
  const { variable, accepts } = settings.encryptionKey
  throw new SettingError(
    `${variable}: nothing is set, and DESKWIRE_DATABASE_URL needs it; it must be ${accepts}`,
  )
}

/** The settings of deliveries, with the files they name. @throws SettingError when one of those cannot be used. */
export async function deliverySettingsOf(config: Config): Promise<DeliverySettings> {
  const { retryDelays, disableAfter, answerTimeout } = config
  return {
    schedule: { retryDelays, disableAfter, answerTimeout },
    rotationOverlap: config.rotationOverlap,
    logRetention: config.logRetention,
    encryptionKey: config.encryptionKey ?? (await keyOfDataDir(config.dataDir)),
    trustedTargets: config.trustedTargets,
    targetCa: config.targetCa === null ? null : await readAuthorities(config.targetCa),
    dnsServers: config.dnsServers,
  }
}

/**
 * Before anything is sealed or signed: is this the key that the database's secrets are sealed with?
 * @throws SettingError when it is another.
 */
export async function requireKeyOfDatabase(
  pool: Pool,
  { encryptionKey, dataDir }: Pick<Config, 'encryptionKey' | 'dataDir'>,
  key: Buffer,
): Promise<void> {
  if (await claimKey(pool, key)) return
  const [which, back] =
    encryptionKey === null
      ? [`the key in ${join(dataDir, 'encryption.key')}`, 'put the file back from a backup']
      : [`${settings.encryptionKey.variable}: what is set`, 'set that key again']
  throw new SettingError(
    `${which} is not the key that the signing secrets of this database are encrypted with: ${back}; if it is lost, see "A lost key" in docs/guides/operating.md`,
  )
}

async function keyOfDataDir(dataDir: string): Promise<Buffer> {
  try {
    return await loadOrCreateEncryptionKey(dataDir)
  } catch (error) {
    throw new SettingError((error as Error).message, { cause: error })
  }
}

async function readAuthorities(path: string): Promise<string> {
  const refuse = (reason: string) =>
    new SettingError(
      `DESKWIRE_TARGET_CA: ${JSON.stringify(path)} ${reason}; it must be a PEM file of certificates`,
    )
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${error.code})`)
  })
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw refuse('holds no certificate')
  try {
    // As the sender will: what it cannot read must not be found out by a worker.
    trustAuthorities(pem)
  } catch (error) {
    throw refuse(`does not parse (${(error as Error).message})`)
  }
  return pem
}

/**
 * The settings of summaries, null where the service writes none. @throws SettingError when those of the endpoint do not
 * belong together.
 */
export function summarySettingsOf(config: Config): SummarySettings | null {
  if (!config.summarizer) return null
  const { summaryDelay: delay, summarizerUrl: url, summarizerModel: model, summarizerKey: key } = config
  if (url === null) {
    const alone = model !== null ? settings.summarizerModel : key !== null ? settings.summarizerKey : null
    if (alone === null) return { delay, endpoint: null }
    const { variable, accepts } = settings.summarizerUrl
    throw new SettingError(
      `${variable}: nothing is set, and ${alone.variable} is of no use without it; it must be ${accepts}`,
    )
  }
  if (model === null) {
    const { variable, accepts } = settings.summarizerModel
    throw new SettingError(
      `${variable}: nothing is set, and ${settings.summarizerUrl.variable} needs it; it must be ${accepts}`,
    )
  }
  return { delay, endpoint: { url, model, key, timeout: config.summarizerTimeout } }
}
