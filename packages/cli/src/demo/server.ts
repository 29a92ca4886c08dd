/** A service of the demo's own: in a directory that is removed afterwards, on a free port, trusting one receiver. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readJson } from '@deskwire/sdk/json'
import type { Target } from '../client.ts'
import { CommandFailure } from '../failure.ts'

/** A directory for the time of a demo. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'deskwire-demo-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

interface DemoServer extends AsyncDisposable {
  readonly target: Target
  /** The process id of the worker that delivers now. */
  workerPid(): number | null
}

/** How long a start may take, in milliseconds: the embedded database is made first. */
const startWithin = 60_000
/** How long after SIGTERM it is killed; the service itself gives up after fifteen seconds. */
const stopWithin = 20_000

/** `deskwire serve`, as its users start it. @throws CommandFailure when it does not come up. */
export async function startServer(directory: string, caPath: string): Promise<DemoServer> {
  const main = process.argv[1] as string
  const child = spawn(process.execPath, [main, 'serve'], {
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DESKWIRE_'))),
      DESKWIRE_PORT: '0',
      DESKWIRE_DATA_DIR: join(directory, 'data'),
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.1/32',
      DESKWIRE_TARGET_CA: caPath,
      // A lease lasts five seconds longer than an attempt: nobody wants to wait for a dead worker's any longer.
      DESKWIRE_ANSWER_TIMEOUT: '1s',
      DESKWIRE_RETRY_DELAYS: '1s,1s,1s,1s,1s',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let worker: number | null = null
  let lastError = ''
  createInterface({ input: child.stderr }).on('line', (line) => {
    const entry = logged(line)
    if (entry.msg === 'the worker was started') worker = entry.pid ?? null
    if (entry.level === undefined || entry.level === 'error' || entry.level === 'fatal')
      lastError = entry.msg ?? line
  })

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopWithin)
    await ended
    clearTimeout(timer)
  }

  let timer: NodeJS.Timeout | undefined
  const started = new Promise<Target>((settle, refuse) => {
    let apiKey = ''
    const out = createInterface({ input: child.stdout })
    out.on('line', (line) => {
      apiKey = /dwk_\w{36}/.exec(line)?.[0] ?? apiKey
      const [, address] = /^listening on (\S+)$/.exec(line) ?? []
      if (address !== undefined) settle({ baseUrl: `${address}/v1`, apiKey })
    })
    const failed = (how: string) => refuse(new CommandFailure(`the demo's service ${how}: ${lastError}`))
    void ended.then(() => failed('did not start'))
    timer = setTimeout(() => failed(`did not start within ${startWithin / 1_000} s`), startWithin)
  })
  try {
    const target = await started
    return { target, workerPid: () => worker, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function logged(line: string): { msg?: string; pid?: number; level?: string } {
  try {
    return readJson(line)
  } catch {
    return { msg: line }
  }
}
