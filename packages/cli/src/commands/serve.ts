import { isIP } from 'node:net'
import { type Config, readConfig, serve, settingsHelp } from '@deskwire/service/serve'
import type { Command } from '../command.ts'
import { UsageError } from '../usage-error.ts'

export const serveCommand: Command = {
  help: () => `deskwire serve: run the service until SIGTERM.

  --dev                 for development: deliver to receivers on this machine, deskwire listen among them

Each setting is a flag or an environment variable; the flag wins.

${settingsHelp()}

Example:
  deskwire serve --port 9000 --first-key-file ./first-key
`,
  async run(args) {
    const flags = args.filter((word) => word !== '--dev')
    let config = readConfig(process.env, flags)
    if (config.ok && flags.length < args.length) {
      await trustThisMachine(config.value)
      config = readConfig(process.env, flags)
    }
    if (!config.ok) throw new UsageError(config.error)
    await serve(config.value)
    // Telemetry that a collector does not take would keep the process for as long as it is tried.
    process.exit()
  },
}

/** Sets what is not set in the environment, which the process of the worker gets as well. */
async function trustThisMachine({ host, dataDir, trustedTargets, targetCa }: Config): Promise<void> {
  if (host !== 'localhost' && host !== '::1' && !(isIP(host) === 4 && host.startsWith('127.')))
    throw new UsageError(
      `--dev lets every key reach the ports of this machine, so it goes with a loopback --host, not ${JSON.stringify(host)}`,
    )
  if (trustedTargets.length === 0) process.env.DESKWIRE_TRUSTED_TARGETS = '127.0.0.0/8,::1/128'
  if (targetCa !== null) return
  const { defaultDirectory, keepAuthority } = await import('../listen/authority.ts')
  process.env.DESKWIRE_TARGET_CA = (await keepAuthority(defaultDirectory(dataDir))).caPath
}
