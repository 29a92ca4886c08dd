/** Runs commands against a service and the model beside it, each time with an organization that is furnished first. */
import fc from 'fast-check'
import type { Api } from '../../../testbed/service.ts'
import type { Command, Real } from './command.ts'
import { furniture, sources } from './commands.ts'
import { StreamModel } from './stream-model.ts'

/** What is tried, besides its organizations. */
interface Tried extends Omit<Real, 'api' | 'cursors'> {
  newOrganization(): Promise<Api>
  /** The same key at the service as it is now: after a restart it is another. */
  apiOf(api: Api): Api
}

/** So many runs of so many commands at most; answers how many commands were run. Rejects with the first answer that is another than the model's. */
export async function runModel(
  tried: Tried,
  commands: fc.Arbitrary<Command>[],
  { runs, maxCommands }: { readonly runs: number; readonly maxCommands: number },
): Promise<number> {
  let ran = 0
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), async (run) => {
      const api = await tried.newOrganization()
      const model = new StreamModel(() => tried.clock.now(), sources)
      const real: Real = {
        get api() {
          return tried.apiOf(api)
        },
        clock: tried.clock,
        cursors: new Map(),
        waiting: () => tried.waiting(),
        restart: () => tried.restart(),
      }
      // Something of everything, followers that are in the middle of it, and removals behind and before them.
      for (const command of furniture()) await command.run(model, real)
      await fc.asyncModelRun(() => ({ model, real }), run)
      ran += [...run].length
    }),
    // Not made smaller: a wait that never ends takes its time to fail, and the test would run out of its own.
    { numRuns: runs, endOnFailure: true },
  )
  return ran
}
