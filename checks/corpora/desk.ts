/** A running service with receivers, and the ways to reach it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@deskwire/sdk'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { type Hooks, startHooks } from '../../packages/testbed/arrivals.ts'
import type { Ran } from '../../packages/testbed/program.ts'
import { rawRequest } from '../../packages/testbed/raw-request.ts'
import type { Answer } from '../../packages/testbed/service.ts'
import { deskwire, serve } from '../../packages/testbed/services.ts'

// biome-ignore lint/suspicious/noExplicitAny: a wrong guess of what is shown fails the check
export type Shown = any

export interface Desk extends AsyncDisposable {
  readonly url: string
  readonly token: string
  /** For files of the check. */
  readonly scratch: string
  readonly hooks: Hooks
  readonly sdk: Client
  /** Sends the body as it is where it is text or bytes, otherwise as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Runs the command line against this service. */
  run(...words: string[]): Promise<Ran>
  /** All rows of a kind, oldest change first. */
  rows(plural: string): Promise<readonly Shown[]>
  /** Sends bytes over a connection; resolves with all that comes back until it is closed, or is idle for `idle` ms. */
  exchange(bytes: Uint8Array, idle?: number): Promise<{ readonly text: string; readonly closed: boolean }>
}

export async function startDesk(): Promise<Desk> {
  const scratch = await mkdtemp(join(tmpdir(), 'deskwire-corpora-'))
  const token = newToken()
  const hooks = await startHooks()
  const service = await serve(
    [
      '--data-dir',
      join(scratch, 'data'),
      '--rate-limit',
      '0',
      '--retry-delays',
      '1s',
      '--mcp',
      'on',
      '--dns-servers',
      '127.0.0.1:1',
    ],
    { settings: { ...hooks.settings, DESKWIRE_BOOTSTRAP_KEY: token, DESKWIRE_LOG_LEVEL: 'error' } },
  )
  const { url } = service
  const call: Desk['call'] = (method, path, body, headers = {}) => {
    const sent =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? body
        : JSON.stringify(body)
    const type = sent === undefined ? {} : { 'content-type': 'application/json' }
    return rawRequest(url + path, method, { authorization: `Bearer ${token}`, ...type, ...headers }, sent)
  }
  return {
    url,
    token,
    scratch,
    hooks,
    sdk: createClient({ baseUrl: `${url}/v1`, apiKey: token }),
    call,
    run: (...words) => deskwire(words, { settings: { DESKWIRE_URL: `${url}/v1`, DESKWIRE_API_KEY: token } }),
    async rows(plural) {
      const rows: Shown[] = []
      for (let from = 'updatedAfter=1970-01-01T00:00:00Z'; ; ) {
        const { status, text, json } = await call('GET', `/v1/${plural}?limit=100&${from}`)
        if (status !== 200) throw new Error(`${plural}: ${status} ${text}`)
        rows.push(...json.data)
        if (!json.pagination.hasMore) return rows
        from = `cursor=${encodeURIComponent(json.pagination.nextCursor)}`
      }
    },
    exchange: (bytes, idle = 1_000) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url)
        const socket = connect(Number(port), hostname)
        const pieces: Buffer[] = []
        const end = (closed: boolean) => {
          socket.destroy()
          resolve({ text: Buffer.concat(pieces).toString('latin1'), closed })
        }
        socket.setTimeout(idle, () => end(false))
        socket.on('data', (piece) => pieces.push(Buffer.from(piece)))
        socket.on('close', () => end(true))
        socket.on('error', (error: NodeJS.ErrnoException) =>
          error.code === 'ECONNRESET' || error.code === 'EPIPE' ? end(true) : reject(error),
        )
        socket.write(bytes)
      }),
    async [Symbol.asyncDispose]() {
      await service.end('SIGTERM')
      await hooks[Symbol.asyncDispose]()
      await rm(scratch, { recursive: true, force: true })
    },
  }
}

/** Whether it is a refusal that says what is wrong. */
export function inWords({ status, json }: Answer): boolean {
  return status >= 400 && status < 500 && typeof json?.detail === 'string' && json.detail.length >= 8
}
