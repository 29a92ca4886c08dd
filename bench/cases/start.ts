/** From the command to "listening on", with a database that exists already. */
import { type RunningService, startService, temporaryDirectory } from '../harness/installation.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../run.ts'

export async function* start({ runs }: Scale): AsyncGenerator<Result> {
  const { dataDir, remove } = await temporaryDirectory()
  let service: RunningService | undefined
  try {
    const warm: Run[] = []
    const memory: Run[] = []
    // The first start, which makes the database, is not counted.
    for (let run = 0; run <= runs; run++) {
      service = await startService(dataDir)
      if (run > 0) {
        warm.push({ value: service.startedIn / 1000 })
        memory.push({ value: await service.residentMegabytes() })
      }
      await service.stop()
    }
    yield summarize('start: warm, to listening', 's', { database: 'embedded' }, warm)
    yield summarize('start: resident memory when listening', 'MB', { database: 'apart' }, memory)
  } finally {
    await service?.stop()
    await remove()
  }
}
