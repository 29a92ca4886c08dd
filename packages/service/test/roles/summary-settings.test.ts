import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { SettingError, summarySettingsOf } from '../../src/roles/delivery-settings.ts'

const url = 'http://localhost:11434/v1'

function settingsWith(environment: Readonly<Record<string, string>>) {
  const config = readConfig(environment)
  if (!config.ok) throw new Error(config.error)
  return summarySettingsOf(config.value)
}

test('without an endpoint sentences are picked; with one, and perhaps a key, it is asked', () => {
  expect(settingsWith({})).toEqual({ delay: 120_000, endpoint: null })
  const model = { DESKWIRE_SUMMARIZER_URL: url, DESKWIRE_SUMMARIZER_MODEL: 'm' }
  expect(settingsWith(model)?.endpoint).toEqual({ url, model: 'm', key: null, timeout: 60_000 })
  expect(
    settingsWith({ ...model, DESKWIRE_SUMMARIZER_KEY: 'sk-1', DESKWIRE_SUMMARIZER_TIMEOUT: '5m' })?.endpoint,
  ).toEqual({ url, model: 'm', key: 'sk-1', timeout: 300_000 })
})

test.each([
  [
    { DESKWIRE_SUMMARIZER_URL: url },
    /^DESKWIRE_SUMMARIZER_MODEL: nothing is set.*DESKWIRE_SUMMARIZER_URL needs it.*name of a model$/,
  ],
  [
    { DESKWIRE_SUMMARIZER_MODEL: 'm' },
    /^DESKWIRE_SUMMARIZER_URL: nothing is set.*DESKWIRE_SUMMARIZER_MODEL.*localhost/,
  ],
  [
    { DESKWIRE_SUMMARIZER_KEY: 'sk-1' },
    /^DESKWIRE_SUMMARIZER_URL: nothing is set.*DESKWIRE_SUMMARIZER_KEY.*localhost/,
  ],
])('%j does not stand alone', (environment, message) => {
  const settings = () => settingsWith(environment)
  expect(settings).toThrow(SettingError)
  expect(settings).toThrow(message)
  expect(settings).not.toThrow(/sk-1/)
})
