/**
 * The real service against the model of docs/stream-model.md: whatever commands come in whatever order, each answer is the
 * one that the model gives, and each copy that has caught up is exact.
 */
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { testClock } from '../harness/clock.ts'
import { testDatabase } from '../harness/database.ts'
import { type TestService, testService } from '../harness/service.ts'
import type { Real } from './command.ts'
import { commands, furniture, sources } from './commands.ts'
import { StreamModel } from './stream-model.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('every answer of the stream is the one that the model gives', async () => {
  // They run on by themselves, and jump when a reader's time is to be up.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  await using database = await testDatabase()
  const clock = testClock()
  let service: TestService = await testService({ database, clock })
  let ran = 0
  try {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (run) => {
        const { organizationId, token } = await service.newOrganization()
        const model = new StreamModel(() => clock.now(), sources)
        const real: Real = {
          get api() {
            return { ...service.withToken(token), organizationId }
          },
          clock,
          cursors: new Map(),
          waiting: () => service.app.readers.waiting,
          async restart() {
            await service[Symbol.asyncDispose]()
            service = await testService({ database, clock })
          },
        }
        await furnish(model, real)
        await fc.asyncModelRun(() => ({ model, real }), run)
        ran += [...run].length
      }),
      // Not made smaller: a wait that never ends takes its time to fail, and the test would run out of its own.
      { numRuns: 15, endOnFailure: true },
    )
  } finally {
    await service[Symbol.asyncDispose]()
  }
  expect(ran).toBeGreaterThan(200)
})

/** Something of everything, followers that are in the middle of it, and removals behind and before them. */
async function furnish(model: StreamModel, real: Real): Promise<void> {
  const commands = furniture()
  for (const command of commands) await command.run(model, real)
}
