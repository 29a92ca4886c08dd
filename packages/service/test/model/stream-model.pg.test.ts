/**
 * The real service against the model of stream-model.ts: whatever commands come in whatever order, each answer is the
 * one that the model gives, and each copy that has caught up is exact.
 */
import { afterEach, expect, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { commands } from './commands.ts'
import { runModel } from './run-model.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('every answer of the stream is the one that the model gives', async () => {
  // They run on by themselves, and jump when a reader's time is to be up.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  await using database = await testDatabase()
  const clock = testClock()
  let service: TestService = await testService({ database, clock })
  try {
    const ran = await runModel(
      {
        clock,
        newOrganization: () => service.newOrganization(),
        apiOf: ({ organizationId, token }) => ({ ...service.withToken(token), organizationId }),
        waiting: () => service.app.readers.waiting,
        async restart() {
          await service[Symbol.asyncDispose]()
          service = await testService({ database, clock })
        },
      },
      commands,
      { runs: 10, maxCommands: 60 },
    )
    expect(ran).toBeGreaterThan(100)
  } finally {
    await service[Symbol.asyncDispose]()
  }
})
