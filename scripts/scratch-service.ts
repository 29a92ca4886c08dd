/** A service on data of its own, for scripts. It delivers nothing, and resolves no name. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

export interface ScratchService {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Lines of its log, of errors alone. */
  readonly errors: readonly string[]
  stop(): Promise<void>
}

/** Starts it in `scratch`, with this first key. */
export async function startScratchService(scratch: string, key: string): Promise<ScratchService> {
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      ...['--role', 'api', '--port', '0', '--data-dir', join(scratch, 'data')],
      ...['--rate-limit', '0', '--dns-servers', '127.0.0.1:1', '--log-level', 'error'],
    ],
    { env: { ...process.env, DESKWIRE_BOOTSTRAP_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const errors: string[] = []
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{')) errors.push(line)
      const [, url] = /^listening on (\S+)$/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error('the service did not start')))
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
