/** Starts the service without deliveries, for scripts. */
import type { Program } from '../packages/testbed/program.ts'
import { type ServiceProcess, serve } from '../packages/testbed/services.ts'

/** An API on this data directory, with this first key. It resolves no name. */
export function startApi(dataDirectory: string, key: string): Promise<ServiceProcess> {
  const flags = ['--role', 'api', '--data-dir', dataDirectory, '--rate-limit', '0']
  return serve([...flags, '--dns-servers', '127.0.0.1:1', '--log-level', 'error'], {
    settings: { DESKWIRE_BOOTSTRAP_KEY: key },
  })
}

/** Lines of its log. */
export function logged({ output }: Program): readonly string[] {
  return output.stderr.split('\n').filter((line) => line !== '')
}
