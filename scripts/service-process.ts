/** The service as a process of its own, on data of its own, for scripts that call it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

export interface ServiceProcess {
  readonly url: string
  /** Lines of its log: errors alone. */
  readonly errors: readonly string[]
  stop(): Promise<void>
}

/** Starts it with this first key. It delivers nothing, and resolves no name. Rejects when it ends before it listens. */
export async function startService(dataDirectory: string, key: string): Promise<ServiceProcess> {
  const child = spawn(
    process.execPath,
    [
      ...[main, 'serve', '--role', 'api', '--port', '0', '--data-dir', dataDirectory],
      ...['--rate-limit', '0', '--dns-servers', '127.0.0.1:1', '--log-level', 'error'],
    ],
    { env: { ...process.env, DESKWIRE_BOOTSTRAP_KEY: key }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, url] = /^listening on (\S+)$/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(`the service did not start: ${errors.join('\n')}`)))
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
