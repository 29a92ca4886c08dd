import { flagOf, settings } from '../../packages/service/src/config.ts'
import { madeBy, table } from './markdown.ts'

/** Every setting of the service. */
export function settingsPage(): string {
  const rows = Object.values(settings).map((setting) => [
    `\`${setting.variable}\``,
    `\`--${flagOf(setting.variable)}\``,
    ('defaultShown' in setting ? setting.defaultShown : undefined) ?? `\`${setting.default}\``,
    `${setting.help}; ${setting.accepts}`,
  ])
  return `${madeBy}
# Settings

Each is an environment variable and a flag of \`deskwire serve\`; the flag wins. A value that is not accepted stops the
start with one line that names it.

${table(['variable', 'flag', 'default', 'meaning'], rows)}
`
}
