import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { SettingError, summarySettingsOf } from '../../src/roles/delivery-settings.ts'

const url = 'http://localhost:11434/v1'

function settingsWith(environment: Readonly<Record<string, string>>) {
  const config = readConfig(environment)
  if (!config.ok) throw new Error(config.error)
  return summarySettingsOf(config.value)
}

test('without an endpoint sentences are picked; with one, and perhaps a key, the model is requested', () => {
  expect(settingsWith({})).toEqual({ delay: 120_000, endpoint: null })
  const model = { DESKWIRE_SUMMARIZER: `m ${url}` }
  const endpoint = { url, model: 'm', key: null, timeout: 120_000 }
  expect(settingsWith(model)?.endpoint).toEqual(endpoint)
  expect(settingsWith({ ...model, DESKWIRE_SUMMARIZER_KEY: 'sk-1' })?.endpoint).toEqual({
    ...endpoint,
    key: 'sk-1',
  })
})

test('a key without an endpoint is refused', () => {
  const settings = () => settingsWith({ DESKWIRE_SUMMARIZER_KEY: 'sk-1' })
  expect(settings).toThrow(SettingError)
  expect(settings).toThrow(/^DESKWIRE_SUMMARIZER_KEY: .*DESKWIRE_SUMMARIZER, .*localhost/)
  expect(settings).not.toThrow(/sk-1/)
})
