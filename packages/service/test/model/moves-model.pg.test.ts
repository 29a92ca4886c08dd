/**
 * The same model against an organization that is moved from one database to another and back, between its commands and beside
 * them: nobody who asks can tell.
 */
import fc from 'fast-check'
import pino from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { createApi } from '../../../testbed/service.ts'
import { createApp } from '../../src/app.ts'
import { createDirectory, directoryChannel } from '../../src/databases/directory.ts'
import { listen } from '../../src/db/listen.ts'
import { startStreamListener } from '../../src/journal/waiting-readers.ts'
import { type Databases, dropSource, moveOrganization } from '../../src/moves/move.ts'
import { createOrganization } from '../../src/organization/create.ts'
import { type Command, named } from './command.ts'
import { commands } from './commands.ts'
import { runModel } from './run-model.ts'
import type { StreamModel } from './stream-model.ts'

afterEach(() => {
  vi.useRealTimers()
})

const names = ['one', 'two'] as const
const silent = pino({ level: 'silent' })

/** The service over two databases, in process, as its clock is the test's. */
async function start(pair: readonly [TestDatabase, TestDatabase], clock: ReturnType<typeof testClock>) {
  const [first, second] = pair
  const app = createApp({
    pool: first.pool,
    name: names[0],
    clock,
    others: [{ name: names[1], pool: second.pool, clock, notifyWorker: null, isReady: () => true }],
    log: silent,
    settings: deliverySettings,
    rateLimit: null,
    searchTimeout: 30_000,
  })
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const listeners = [
    ...app.shards.map(({ readers }, place) =>
      startStreamListener(readers, (pair[place] as TestDatabase).connection, silent),
    ),
    listen(
      first.connection,
      directoryChannel,
      (id) => app.moved(id === '' ? null : id),
      () => {},
    ),
  ]
  return {
    url: app.server.listeningOrigin,
    waiting: () => app.shards.reduce((sum, { readers }) => sum + readers.waiting, 0),
    async stop() {
      await app.server.close()
      await Promise.all([
        ...app.shards.map(({ maintenance }) => maintenance.stop()),
        ...listeners.map((each) => each.close()),
      ])
    },
  }
}

test('every answer is the one that the model gives, wherever the organization is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  await using one = await testDatabase()
  await using two = await testDatabase()
  const clock = testClock()
  const directory = createDirectory(one.pool, names[0])
  const databases: Databases = {
    pools: new Map([
      [names[0], one.pool],
      [names[1], two.pool],
    ]),
    directory,
    clock,
  }
  const moved = { alone: 0, beside: 0 }
  const move = async (organizationId: string) => {
    const from = (await directory.databaseOf(organizationId))?.database ?? ''
    const to = from === names[0] ? names[1] : names[0]
    const { outcome } = await moveOrganization(databases, organizationId, to)
    expect(outcome).toBe('moved')
    await dropSource(databases, organizationId, from)
  }
  const moveAlone: Command = named('move', {
    check: () => true,
    async run(_, { api }) {
      await move(api.organizationId)
      moved.alone++
    },
  })
  const moveBeside = (other: Command): Command =>
    named(`move, and meanwhile: ${other}`, {
      check: (model: Readonly<StreamModel>) => other.check(model),
      async run(model, real) {
        const moving = move(real.api.organizationId)
        // What fails is told by the wait for it.
        moving.catch(() => {})
        await other.run(model, real)
        await moving
        moved.beside++
      },
    })
  const withMoves = [
    ...commands,
    ...[1, 2].map(() => fc.constant(moveAlone)),
    ...[1, 2, 3].map(() => fc.oneof(...commands).map(moveBeside)),
  ]
  let service = await start([one, two], clock)
  try {
    const ran = await runModel(
      {
        clock,
        async newOrganization() {
          const made = await createOrganization(one.pool, clock, 'Moved')
          return createApi(service.url, made.organizationId, made.token)
        },
        apiOf: ({ organizationId, token }) => createApi(service.url, organizationId, token),
        waiting: () => service.waiting(),
        async restart() {
          await service.stop()
          service = await start([one, two], clock)
        },
      },
      withMoves,
      { runs: 5, maxCommands: 40 },
    )
    expect(ran).toBeGreaterThan(20)
    expect(moved.alone + moved.beside).toBeGreaterThan(2)
  } finally {
    await service.stop()
  }
})
