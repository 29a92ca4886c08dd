/** Turns telemetry on if the environment configures it; otherwise nothing of OpenTelemetry is loaded. */
import type { ProcessRole } from '../kernel/telemetry.ts'
import type { OpenTelemetry } from './sdk.ts'
import { type Environment, readTelemetrySettings } from './settings.ts'

/** The packages that telemetry needs and the service does not install: its peer dependencies. */
export const neededPackages: Readonly<Record<string, string>> = {
  '@opentelemetry/api': '1.10.0',
  '@opentelemetry/exporter-metrics-otlp-http': '0.301.0',
  '@opentelemetry/exporter-metrics-otlp-proto': '0.301.0',
  '@opentelemetry/exporter-trace-otlp-http': '0.301.0',
  '@opentelemetry/exporter-trace-otlp-proto': '0.301.0',
  '@opentelemetry/resources': '3.1.0',
  '@opentelemetry/sdk-metrics': '3.1.0',
  '@opentelemetry/sdk-trace': '3.1.0',
}

/** Telemetry cannot be turned on as configured: the message says, in one line, what to set or install. */
export class TelemetryError extends Error {}

/** The telemetry of this process; null when it is off. @throws TelemetryError */
export async function openTelemetry(
  role: ProcessRole,
  environment: Environment = process.env,
): Promise<OpenTelemetry | null> {
  const settings = readTelemetrySettings(environment)
  if (!settings.ok) throw new TelemetryError(settings.error)
  if (settings.value === null) return null
  const { createTelemetry } = await import('./sdk.ts').catch(explainMissing)
  return createTelemetry(role, settings.value)
}

function explainMissing(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('@opentelemetry/')) throw error
  const packages = Object.entries(neededPackages).map(([name, version]) => `${name}@${version}`)
  throw new TelemetryError(
    `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the libraries for it are not installed; install them with: npm install ${packages.join(' ')}`,
    { cause: error },
  )
}
