/** The settings of deliveries and summaries, from the configuration and the files that it names. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { type Config, settings } from '../config.ts'
import { loadOrCreateEncryptionKey } from '../delivery/endpoint/secrets.ts'
import type { EncryptionKeys } from '../delivery/endpoint/vault.ts'
import { claimKey, type KeyStatus } from '../delivery/endpoint/vault.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import { trustAuthorities } from '../delivery/send/dial.ts'
import type { SummarySettings } from '../summarizer/summarizer.ts'

/** A setting has a value that cannot be used; the message says which, and what is accepted. */
export class SettingError extends Error {}

function unset({ variable, accepts }: { readonly variable: string; readonly accepts: string }, why: string) {
  return new SettingError(`${variable}: nothing is set, and ${why}; it must be ${accepts}`)
}

/** @throws SettingError when a server is configured without an encryption key. */
export function requireEncryptionKey({ databaseUrl, databases, encryptionKey }: Config): void {
  if ((databaseUrl === null && databases === null) || encryptionKey !== null) return
  const { variable } = databases === null ? settings.databaseUrl : settings.databases
  throw unset(settings.encryptionKey, `${variable} needs it`)
}

/** @throws SettingError when a file that the settings name cannot be used. */
export async function deliverySettingsOf(config: Config): Promise<DeliverySettings> {
  return { ...(await sendingSettingsOf(config)), ...(await encryptionKeysOf(config)) }
}

/** The settings without secrets. @throws SettingError */
export async function sendingSettingsOf(config: Config): Promise<SendingSettings> {
  const { retryDelays, disableAfter, answerTimeout } = config
  return {
    schedule: { retryDelays, disableAfter, answerTimeout },
    rotationOverlap: config.rotationOverlap,
    logRetention: config.logRetention,
    trustedTargets: config.trustedTargets,
    targetCa: config.targetCa === null ? null : await readAuthorities(config.targetCa),
    egressProxy: config.egressProxy,
    dnsServers: config.dnsServers,
  }
}

export type SendingSettings = Omit<DeliverySettings, 'encryptionKey' | 'encryptionKeyPrevious'>

type KeySettings = Pick<Config, 'encryptionKey' | 'encryptionKeyPrevious' | 'dataDir'>

/** @throws SettingError when the key in the data directory cannot be used, or both keys are the same. */
async function encryptionKeysOf(config: KeySettings) {
  const encryptionKey = config.encryptionKey ?? (await keyOfDataDir(config.dataDir))
  const { encryptionKeyPrevious } = config
  if (encryptionKeyPrevious?.equals(encryptionKey)) {
    throw new SettingError(
      `${settings.encryptionKeyPrevious.variable}: it is the same key as ${nameOfKey(config)}; set it to the key that this one replaces, or not at all`,
    )
  }
  return { encryptionKey, encryptionKeyPrevious }
}

/**
 * Checks, before anything is encrypted or signed, that the database's secrets are encrypted with these keys. @throws
 * SettingError
 */
export async function requireKeyOfDatabase(
  pool: Pool,
  config: KeySettings,
  keys: EncryptionKeys,
): Promise<void> {
  const fault = keyFault(await claimKey(pool, keys), config)
  if (fault !== null) throw new SettingError(fault)
}

/** Explains keys with this status in one line; null when they are correct. */
export function keyFault(status: KeyStatus, config: KeySettings): string | null {
  const { encryptionKey, encryptionKeyPrevious } = config
  const previous = settings.encryptionKeyPrevious.variable
  switch (status) {
    case 'held':
      return null
    case 'unfinished':
      return `the encryption key of this database is being replaced, and secrets may be left that the one before it encrypts: set that one as ${previous}, and run deskwire encryption-key rotate to its end`
    case 'another': {
      const of = 'the key that the signing secrets of this database are encrypted with'
      const lost = 'if it is lost, see "A lost key" in docs/guides/encryption-key.md'
      if (encryptionKeyPrevious !== null)
        return `neither ${nameOfKey(config)} nor ${previous} is ${of}: set that key again as one of them; ${lost}`
      return encryptionKey === null
        ? `the key in ${nameOfKey(config)} is not ${of}: put the file back from a backup; ${lost}`
        : `${nameOfKey(config)}: what is set is not ${of}: set that key again; ${lost}`
    }
  }
}

function nameOfKey({ encryptionKey, dataDir }: KeySettings): string {
  return encryptionKey === null ? join(dataDir, 'encryption.key') : settings.encryptionKey.variable
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
    // Parsed as the sender will, so that an unreadable file fails here and not in a worker.
    trustAuthorities(pem)
  } catch (error) {
    throw refuse(`does not parse (${(error as Error).message})`)
  }
  return pem
}

/** Access tokens are for one URL. @throws SettingError when it is not set. */
export function requirePublicUrl({ mcp, publicUrl }: Config): void {
  if (mcp === null || mcp.issuer === null || publicUrl !== null) return
  throw unset(settings.publicUrl, `the issuer in ${settings.mcp.variable} needs it`)
}

/** In milliseconds. */
const summaryTimeout = 120_000

/** Null when summaries are off. @throws SettingError when there is a key and no endpoint. */
export function summarySettingsOf({
  summarizer,
  summarizerKey: key,
  summaryDelay: delay,
}: Config): SummarySettings | null {
  if (summarizer === 'off') return null
  if (summarizer !== 'sentences') return { delay, endpoint: { ...summarizer, key, timeout: summaryTimeout } }
  if (key === null) return { delay, endpoint: null }
  const { variable, accepts } = settings.summarizer
  throw new SettingError(
    `${settings.summarizerKey.variable}: it is of no use without an endpoint in ${variable}, which must be ${accepts}`,
  )
}
