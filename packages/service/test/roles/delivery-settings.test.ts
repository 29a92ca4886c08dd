/** Files that settings name: what cannot be used is refused before anything starts. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import { readConfig } from '../../src/config.ts'
import { deliverySettingsOf, SettingError } from '../../src/roles/delivery-settings.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'deskwire-settings-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

function settingsWith(environment: Record<string, string>) {
  const config = readConfig({ DESKWIRE_DATA_DIR: directory, ...environment })
  if (!config.ok) throw new Error(config.error)
  return deliverySettingsOf(config.value)
}

const begin = '-----BEGIN CERTIFICATE-----'
const end = '-----END CERTIFICATE-----'

test('authorities are read, one that is broken is not passed over', async () => {
  const path = join(directory, 'ca.pem')
  const { ca } = createAuthority()
  await writeFile(path, ca)
  expect((await settingsWith({ DESKWIRE_TARGET_CA: path })).targetCa).toBe(ca)
  for (const text of [
    '',
    'nonsense',
    `${begin}\nnonsense\n${end}\n`,
    `${ca}${begin}\nAAAA\n${end}\n`,
    begin,
  ]) {
    await writeFile(path, text)
    const settings = settingsWith({ DESKWIRE_TARGET_CA: path })
    await expect(settings, text).rejects.toThrow(SettingError)
    await expect(settings, text).rejects.toThrow(/^DESKWIRE_TARGET_CA: ".*" .*must be a PEM file/)
  }
  for (const missing of [directory, join(directory, 'missing.pem')]) {
    await expect(settingsWith({ DESKWIRE_TARGET_CA: missing })).rejects.toThrow(/cannot be read \(E[A-Z]+\)/)
  }
})

test('an encryption.key that holds no key is refused, and stays as it is', async () => {
  const path = join(directory, 'encryption.key')
  await writeFile(path, 'nonsense\n')
  const settings = settingsWith({})
  await expect(settings).rejects.toThrow(SettingError)
  await expect(settings).rejects.toThrow(/encryption\.key does not hold 32 bytes in base64: .*backup/)
  expect(await readFile(path, 'utf8')).toBe('nonsense\n')
})
