import { type Config, settings } from '../config.ts'
import type { SummarySettings } from '../summaries.ts'
import { SettingError } from './delivery-settings.ts'

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
