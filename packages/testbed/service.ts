/** The whole service on a database of its own, over real HTTP on a free port of the loopback. */
import { readJson } from '@deskwire/sdk/json'
import type { Pool } from 'pg'
import pino from 'pino'
import { inject } from 'vitest'
import type { RateLimit } from '../service/src/admission/rate-limit.ts'
import { type App, type AppOptions, createApp } from '../service/src/app.ts'
import type { DeliverySettings } from '../service/src/delivery/model.ts'
import { maxClockSkew } from '../service/src/journal/commit-protocol.ts'
import { startStreamListener } from '../service/src/journal/waiting-readers.ts'
import { logOptions } from '../service/src/kernel/log.ts'
import { type Clock, systemClock } from '../service/src/kernel/timestamps.ts'
import type { Kind } from '../service/src/kinds/model/kind.ts'
import { createApiKey, createOrganization } from '../service/src/organization/create.ts'
import { keepSeen, watchAnswers } from './answers.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { deliverySettings } from './delivery-settings.ts'
import { watchStatements } from './watch-statements.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the answer has; a wrong guess fails them
  readonly json: any
}

/** Calls of one organization's key. */
export interface Api {
  readonly organizationId: string
  readonly token: string
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  delete(path: string, headers?: Record<string, string>): Promise<Answer>
}

export interface TestService extends AsyncDisposable {
  readonly database: TestDatabase
  readonly app: App
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Log lines, parsed. */
  readonly logged: readonly Record<string, unknown>[]
  /** The first organization, with a key that has all scopes. */
  readonly api: Api
  newOrganization(name?: string): Promise<Api>
  newKey(organizationId: string, scopes: readonly string[]): Promise<Api>
  /** With another token, or with none. */
  withToken(token: string | null): Api
}

/** Options that are passed to the application unchanged. */
const edgeOptions = [
  'admin',
  'notifyWorker',
  'storage',
  'readers',
  'admission',
  'degraded',
  'metricsElsewhere',
  'offload',
  'role',
  'publicUrl',
  'webhookAddresses',
  'trustedProxies',
  'corsOrigins',
  'consoleFrameAncestors',
  'telemetry',
  'mcp',
  'mcpIssuer',
] as const
type EdgeOption = (typeof edgeOptions)[number]

/** `await using service = await testService()`. */
export async function testService(
  options: {
    readonly clock?: Clock
    readonly kinds?: readonly Kind[]
    readonly database?: TestDatabase
    readonly settings?: Partial<DeliverySettings>
    /** Whether it notifies other processes of its commits. */
    readonly tells?: boolean
    /** Default: none. */
    readonly rateLimit?: RateLimit
    /** Default: as long as any statement may take, as the machine may be busy. */
    readonly searchTimeout?: number
    /** Limits how far its clock may be ahead of the database's, as in a real service. */
    readonly guarded?: boolean
  } & Pick<AppOptions, EdgeOption> = {},
): Promise<TestService> {
  const { clock = systemClock, kinds } = options
  const database = options.database ?? (await testDatabase())
  const logged: Record<string, unknown>[] = []
  const log = pino({ ...logOptions, level: 'debug' }, { write: (line) => logged.push(JSON.parse(line)) })
  const { pool, seen: statements } = watchStatements(
    options.tells === false ? silent(database.pool) : database.pool,
  )
  const app = createApp({
    pool,
    clock,
    log,
    settings: { ...deliverySettings, ...options.settings },
    rateLimit: options.rateLimit ?? null,
    searchTimeout: options.searchTimeout ?? 30_000,
    ...(options.guarded ? { maxClockSkew } : {}),
    ...(kinds === undefined ? {} : { kinds }),
    ...Object.fromEntries(edgeOptions.flatMap((name) => (name in options ? [[name, options[name]]] : []))),
  })
  const seen = watchAnswers(app.server)
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const listener = startStreamListener(app.readers, database.connection, log)
  const address = app.server.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const url = `http://127.0.0.1:${address.port}`

  const apiOf = ({ organizationId, token }: { organizationId: string; token: string | null }) =>
    createApi(url, organizationId, token)
  const newOrganization = async (name = 'Test') => apiOf(await createOrganization(database.pool, clock, name))

  return {
    database,
    app,
    url,
    logged,
    api: await newOrganization(),
    newOrganization,
    async newKey(organizationId, scopes) {
      const key = await createApiKey(database.pool, clock, { organizationId, name: 'Test', scopes })
      if (key === null) throw new Error(`no organization ${organizationId}`)
      return apiOf(key)
    },
    withToken: (token) => apiOf({ organizationId: '', token }),
    async [Symbol.asyncDispose]() {
      await app.server.close()
      await app.maintenance.stop()
      await listener.close()
      if (options.database === undefined) await database[Symbol.asyncDispose]()
      keepSeen(inject('answers'), seen)
      if (seen.undeclared.size > 0)
        throw new Error(`sent, and not declared: ${[...seen.undeclared].join(', ')}`)
      if (statements.unnamed.size > 0)
        throw new Error(`statements that name not one organization:\n${[...statements.unnamed].join('\n')}`)
    },
  }
}

/** The pool of a process that dies before it notifies others of its commits. */
function silent(pool: Pool): Pool {
  const query = (...call: unknown[]) => {
    const [asked] = call
    const text = typeof asked === 'string' ? asked : (asked as { text: string }).text
    return text.includes('pg_notify') ? Promise.resolve() : Reflect.apply(pool.query, pool, call)
  }
  return Object.assign(Object.create(pool), { query })
}

export function createApi(url: string, organizationId: string, token: string | null): Api {
  async function call(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? readJson(text) : null,
    }
  }
  return {
    organizationId,
    token: token ?? '',
    get: (path, headers = {}) => call('GET', path, headers),
    post: (path, body, headers = {}) => call('POST', path, headers, body),
    patch: (path, body, headers = {}) => call('PATCH', path, headers, body),
    delete: (path, headers = {}) => call('DELETE', path, headers),
  }
}
