/** Checks the encryption key: whether it is the database's, and opens the stored secrets. Does not claim the key. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import { keyCheckOf, loadEncryptionKey, tryOpening } from '../delivery/endpoint/secrets.ts'
import {
  createOpener,
  type EncryptionKeys,
  keyStatusOf,
  opensSecrets,
  readNamedKeys,
} from '../delivery/endpoint/vault.ts'
import { keyFault } from '../roles/delivery-settings.ts'
import { type Finding, failedAsTheStart, findingsOf } from './finding.ts'

const check = 'encryption key'
const finding = findingsOf(check)

/** Secrets that are tried, newest first: about a second. */
const tried = 50_000

/** The keys that a start would use; null when it would create one. @throws Error when a file has no valid key. */
export async function keysOfConfig(config: Config): Promise<EncryptionKeys | null> {
  const current = config.encryptionKey ?? (await loadEncryptionKey(config.dataDir))
  return current === null ? null : { current, previous: config.encryptionKeyPrevious }
}

export async function checkKeyFile(config: Config): Promise<Finding | null> {
  if (config.encryptionKey !== null) return null
  const path = join(config.dataDir, 'encryption.key')
  const found = await stat(path).catch(() => null)
  if (found === null || (found.mode & 0o077) === 0) return null
  return finding.warning(
    `${path} can be read by others than its owner`,
    `chmod 600 ${path}; with it and the database anybody signs in your name`,
  )
}

/** Compares the keys with those of the database, and with its secrets. */
export async function checkKeys(
  pool: Pool,
  keys: EncryptionKeys | null,
  config: Config,
): Promise<readonly Finding[]> {
  const named = await readNamedKeys(pool)
  const isNamed = named.current !== null
  if (keys === null) {
    return isNamed
      ? [
          finding.failed(
            'there is none, and this database has one',
            `put its encryption.key into ${config.dataDir}, or set DESKWIRE_ENCRYPTION_KEY`,
          ),
        ]
      : [
          finding.warning(
            'there is none yet',
            'the next start makes one: back it up, apart from the database',
          ),
        ]
  }
  if (!isNamed) {
    return (await opensSecrets(pool, keys))
      ? [finding.ok('the next start notes it as the one of this database')]
      : [failedAsTheStart(check, keyFault('another', config) ?? '')]
  }
  const fault = keyFault(keyStatusOf(named, keys), config)
  if (fault !== null) return [failedAsTheStart(check, fault)]
  const lost = await unopened(pool, keys)
  const findings: Finding[] = []
  if (lost.endpoints.length > 0) {
    findings.push(
      finding.failed(
        `it does not open the secrets of ${lost.endpoints.length} endpoints, ${lost.endpoints[0]} among them: their deliveries wait`,
        'set the key that they were sealed with as DESKWIRE_ENCRYPTION_KEY_PREVIOUS and run deskwire encryption-key rotate; if it is lost, rotate their secrets',
      ),
    )
  }
  const rotation = rotationFinding(keys, named)
  if (rotation !== null) findings.push(rotation)
  return findings.length === 0
    ? [finding.ok(`it is the one of this database, and opens ${lost.opened} signing secrets`)]
    : findings
}

/** The remaining steps of a rotation; null when there are none. */
function rotationFinding(
  { current, previous }: EncryptionKeys,
  named: { readonly current: Buffer | null; readonly previous: Buffer | null },
): Finding | null {
  if (named.previous !== null)
    return finding.warning(
      'it is being replaced, and secrets may be left under the one before',
      'run deskwire encryption-key rotate to its end',
    )
  if (previous === null || named.current === null) return null
  return named.current.equals(keyCheckOf(current))
    ? finding.warning(
        'DESKWIRE_ENCRYPTION_KEY_PREVIOUS is set, and nothing needs it any more',
        'start every process without it; keep that key with the backups of its time',
      )
    : finding.warning(
        'a new one is set, and the database still has the one before',
        'once every process has both, run deskwire encryption-key rotate',
      )
}

/** Endpoints with a secret that none of the keys opens. */
async function unopened(
  pool: Pool,
  keys: EncryptionKeys,
): Promise<{ readonly opened: number; readonly endpoints: readonly string[] }> {
  const { rows } = await pool.query<{ organization_id: string; webhook_id: string; sealed: Buffer }>(
    `select s.organization_id, s.webhook_id, s.sealed from webhook_secrets s order by s.created_at desc limit ${tried}`,
  )
  const open = createOpener(keys)
  const endpoints = new Set<string>()
  let opened = 0
  for (const { organization_id: organizationId, webhook_id: webhookId, sealed } of rows) {
    if (tryOpening(open, sealed, { organizationId, webhookId }) === null) endpoints.add(webhookId)
    else opened++
  }
  return { opened, endpoints: [...endpoints] }
}
