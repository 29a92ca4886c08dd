import { readConfig, serve, settingsHelp } from '@deskwire/service/serve'
import type { Command } from '../commands.ts'
import { UsageError } from '../usage-error.ts'

export const serveCommand: Command = {
  help: () => `deskwire serve: run the service until SIGTERM.

Each setting is a flag or an environment variable; the flag wins.

${settingsHelp()}

Example:
  deskwire serve --port 9000 --first-key-file ./first-key
`,
  async run(args) {
    const config = readConfig(process.env, args)
    if (!config.ok) throw new UsageError(config.error)
    await serve(config.value)
    // Telemetry that a collector does not take would keep the process for as long as it is tried.
    process.exit()
  },
}
