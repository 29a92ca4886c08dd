/**
 * The real service against the model of docs/stream-model.md: whatever commands come in whatever order, each answer is the
 * one that the model gives, and each copy that has caught up is exact.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testClock } from '../harness/clock.ts'
import { testDatabase } from '../harness/database.ts'
import { type TestService, testService } from '../harness/service.ts'
import { commands, furniture, type Real, sources } from './commands.ts'
import { StreamModel } from './stream-model.ts'

test('every answer of the stream is the one that the model gives', async () => {
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
          async restart() {
            await service[Symbol.asyncDispose]()
            service = await testService({ database, clock })
          },
        }
        await furnish(model, real)
        await fc.asyncModelRun(() => ({ model, real }), run)
        ran += [...run].length
      }),
      { numRuns: 15 },
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
