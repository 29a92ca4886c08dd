/** An API over several databases, with their workers, over real HTTP. */
import pino from 'pino'
import type { AppOptions } from '../service/src/app.ts'
import { hashToken } from '../service/src/auth/token.ts'
import { createDirectory, type Directory } from '../service/src/databases/directory.ts'
import type { DeliverySettings } from '../service/src/delivery/model.ts'
import { logOptions } from '../service/src/kernel/log.ts'
import { systemClock } from '../service/src/kernel/timestamps.ts'
import { createOrganization } from '../service/src/organization/create.ts'
import { startApi } from '../service/src/roles/api.ts'
import { type ServedDatabase, served } from '../service/src/roles/prepare.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { deliverySettings } from './delivery-settings.ts'
import { type Api, createApi } from './service.ts'

export interface SeveralDatabases extends AsyncDisposable {
  readonly databases: readonly TestDatabase[]
  readonly served: readonly [ServedDatabase, ...ServedDatabase[]]
  readonly directory: Directory
  readonly logged: readonly Record<string, unknown>[]
  /** Another API on the same databases. */
  startApi(
    options?: Pick<AppOptions, 'mcp' | 'mcpIssuer' | 'publicUrl'>,
  ): Promise<{ readonly address: string; stop(): Promise<void> }>
  /** An organization in the database with this index, through the API at this address. */
  newOrganization(place: number, address: string): Promise<Api>
}

/** The first has the directory. */
export const names = ['one', 'two', 'three'] as const

export async function severalDatabases(settings: Partial<DeliverySettings> = {}): Promise<SeveralDatabases> {
  const databases = await Promise.all(names.map(() => testDatabase()))
  const each = databases.map(({ pool, connection }, place) =>
    served({ name: names[place] ?? '', pool, address: connection }),
  ) as [ServedDatabase, ...ServedDatabase[]]
  const [first, ...others] = each
  const directory = createDirectory(first.pool, names[0])
  const logged: Record<string, unknown>[] = []
  const log = pino({ ...logOptions, level: 'info' }, { write: (line) => logged.push(JSON.parse(line)) })
  const stops: (() => Promise<void>)[] = []
  return {
    databases,
    served: each,
    directory,
    logged,
    async startApi(options = {}) {
      const api = await startApi(
        { host: '127.0.0.1', port: 0 },
        {
          pool: first.pool,
          address: first.address,
          name: names[0],
          others: others.map((database) => ({ ...database, notifyWorker: null })),
          log,
          settings: { ...deliverySettings, ...settings },
          rateLimit: null,
          searchTimeout: 30_000,
          otherMetrics: async () => [],
          ...options,
        },
      )
      stops.push(() => api.stop())
      return api
    },
    async newOrganization(place, address) {
      const home = each[place] as ServedDatabase
      const made = await createOrganization(home.pool, systemClock, `of ${home.name}`, async (key) => {
        if (place === 0) return
        await directory.place(key.organizationId, home.name ?? '')
        await directory.note(key.organizationId, [Buffer.from(hashToken(key.token), 'hex')])
      })
      return createApi(address, made.organizationId, made.token)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stops.map((stop) => stop()))
      for (const database of databases) await database[Symbol.asyncDispose]()
    },
  }
}
