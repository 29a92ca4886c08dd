/** The service as a process of its own, on data of its own, for scripts that call it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

export interface ServiceProcess {
  /** Empty for a worker. */
  readonly url: string
  /** Lines of its log. */
  readonly errors: readonly string[]
  stop(): Promise<void>
}

/** Starts it with this first key. It delivers nothing, and resolves no name. Rejects when it ends before it listens. */
export function startService(dataDirectory: string, key: string): Promise<ServiceProcess> {
  const flags = ['--role', 'api', '--port', '0', '--data-dir', dataDirectory]
  return serve([...flags, '--rate-limit', '0', '--dns-servers', '127.0.0.1:1', '--log-level', 'error'], {
    DESKWIRE_BOOTSTRAP_KEY: key,
  })
}

/** Starts `deskwire serve` so. Rejects, with what it said, when it ends before it listens or, a worker, delivers. */
export async function serve(
  flags: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [main, 'serve', ...flags], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [said, url = ''] = /^(?:delivering|listening on (\S+))$/.exec(line) ?? []
      if (said !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(errors.join('\n'))))
  })
  return {
    url: await listening,
    errors,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
