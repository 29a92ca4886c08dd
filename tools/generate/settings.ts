import { flagOf, settings, shownDefault } from '../../packages/service/src/config.ts'
import { libraryVariables, telemetryVariables } from '../../packages/service/src/telemetry/settings.ts'
import { madeBy, table } from './markdown.ts'

/** Every setting of the service. */
export function settingsPage(): string {
  const rows = Object.values(settings).map((setting) => [
    `\`${setting.variable}\``,
    `\`--${flagOf(setting.variable)}\``,
    !setting.defaultShown && setting.default ? `\`${setting.default}\`` : shownDefault(setting),
    `${setting.help}; ${setting.accepts}`,
  ])
  const telemetry = Object.values(telemetryVariables).map(({ name, default: value, help, accepts }) => [
    `\`${name}\``,
    value === '' ? 'none' : `\`${value}\``,
    `${help}; ${accepts}`,
  ])
  return `${madeBy}
# Settings

Each is an environment variable and a flag of \`deskwire serve\`; the flag wins. A value that is not accepted stops the
start with one line that names it.

${table(['variable', 'flag', 'default', 'meaning'], rows)}

## Telemetry

OpenTelemetry's own variables, read where one of the endpoints is set, and nowhere else
([observing](../guides/observing.md#opentelemetry)). They have no flags.

${table(['variable', 'default', 'meaning'], telemetry)}

The libraries read these by themselves, those that begin with \`OTEL_EXPORTER_OTLP_\` with \`TRACES_\` or \`METRICS_\` after it as well:

${table(
  ['variable', 'meaning'],
  libraryVariables.map(([name, meaning]) => [`\`${name}\``, meaning]),
)}
`
}
