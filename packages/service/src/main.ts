/**
 * Starting and stopping. PostgreSQL's programs, which a start waits for, run on another core while the code that works
 * on the database is loaded. So this imports only what is needed to begin them.
 */
import { type Config, ineffectiveVariables } from './config.ts'
import { openDatabases } from './db/open.ts'
import { createLog } from './kernel/log.ts'
import { version } from './kernel/version.ts'
import {
  requireEncryptionKey,
  requirePublicUrl,
  SettingError,
  summarySettingsOf,
} from './roles/delivery-settings.ts'
import { openTelemetry, TelemetryError } from './telemetry/open.ts'

/**
 * Runs the service until SIGTERM or SIGINT, and resolves when it has stopped. Writes the first key and the address to
 * standard output, and the log, in JSON lines, to standard error. @throws EmbeddedDatabaseError when its database
 * ended.
 */
export async function serve(config: Config): Promise<void> {
  const telemetry = await openTelemetry(config.role === 'worker' ? 'worker' : 'api').catch(refuseTelemetry)
  const log = createLog(config.logLevel, telemetry?.logFields)
  telemetry?.reportTo(log)
  for (const { found, advice } of ineffectiveVariables(process.env)) log.warn(`${found}; ${advice}`)
  log.info({ version, role: config.role }, 'starting')
  requireEncryptionKey(config)
  const summaries = summarySettingsOf(config)
  requirePublicUrl(config)
  const stopped = stopSignal()
  const begun = Promise.withResolvers<void>()
  const opening = openDatabases(config, log, begun.resolve)
  // Loading keeps this thread busy: begun at once, it would delay the preparations for the programs.
  await Promise.race([begun.promise, opening])
  const [databases, { run }] = await Promise.all([opening, import('./run.ts')])
  await run(config, { databases, stopped, summaries, log, telemetry })
}

function refuseTelemetry(error: unknown): never {
  throw error instanceof TelemetryError ? new SettingError(error.message) : error
}

/**
 * Ctrl-C under npm arrives twice, so the handlers stay. A closed standard output would lose the first key, so it stops
 * the service too.
 */
function stopSignal(): Promise<string> {
  return new Promise((settle) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => settle(signal))
    process.stdout.on('error', (error) => settle(`standard output: ${error.message}`))
  })
}
