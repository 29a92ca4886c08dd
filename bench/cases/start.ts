/** From the command to "listening on", on an empty directory and on an existing database; and memory at rest. */
import { setTimeout as delay } from 'node:timers/promises'
import { startService, temporaryDirectory } from '../harness/installation.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

/** Until the worker has done its first work. */
const restSeconds = 10

export async function* start({ runs }: Scale): AsyncGenerator<Result> {
  const first: Run[] = []
  const warm: Run[] = []
  const memory: Run[] = []
  const held: Run[] = []
  for (let run = 0; run < runs; run++) {
    const { dataDir, remove } = await temporaryDirectory()
    try {
      const begun = await startService(dataDir)
      await begun.stop()
      first.push({ value: begun.startedIn / 1000 })
      const service = await startService(dataDir)
      warm.push({ value: service.startedIn / 1000 })
      memory.push({ value: await service.residentMegabytes() })
      await delay(restSeconds * 1000)
      held.push({ value: await service.heldMegabytes() })
      await service.stop()
    } finally {
      await remove()
    }
  }
  yield summarize('start: first, on an empty directory, to listening', 's', { database: 'embedded' }, first)
  yield summarize('start: warm, to listening', 's', { database: 'embedded' }, warm)
  yield summarize('start: resident memory when listening', 'MB', { database: 'apart' }, memory)
  yield summarize(
    'start: memory at rest, API and worker (PSS)',
    'MB',
    { seconds: restSeconds, database: 'apart' },
    held,
  )
}
