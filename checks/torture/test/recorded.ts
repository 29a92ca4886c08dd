/** A recorded history of the real service: concurrent writers and followers, some lost responses. */
import { dice } from '../../../packages/testbed/load.ts'
import { testService } from '../../../packages/testbed/service.ts'
import type { History, Line } from '../history/format.ts'
import { createRecorder } from '../load/recorder.ts'
import { createReaders, work } from '../load/run.ts'
import { storedLines } from '../load/stored.ts'
import { type Call, createWriters } from '../load/writer.ts'

export async function recordHistory({
  changes,
  seed,
}: {
  readonly changes: number
  readonly seed: number
}): Promise<Line[]> {
  await using service = await testService()
  const lines: Line[] = []
  const recorder = createRecorder((line) => lines.push(line))
  const { api } = service
  const certain: Call = (method, path, body) => {
    if (method === 'POST') return api.post(path, body)
    if (method === 'PATCH') return api.patch(path, body)
    return method === 'GET' ? api.get(path) : api.delete(path)
  }
  const lose = dice(seed)
  const call: Call = async (method, path, body) => {
    const answer = await certain(method, path, body)
    // It has happened, and its caller does not know.
    if (lose() < 0.03) throw new Error('lost')
    return answer
  }
  const writers = createWriters(recorder)
  const readers = createReaders(recorder, [1, 3, 100, 7, 20, 2, 5, 50])
  await work({ recorder, writers, readers, call, clients: 8, changes, seed })
  recorder.write({ does: 'mark', what: 'the writers have ended' })
  // Some begin when there are many rows.
  readers.push(...createReaders(recorder, [4, 9]))
  for (const reader of readers) await reader.drain(certain)
  // Removes customers with many dependents while all followers have them, which random choices do not always do.
  for (let n = 0; n < 3; n++) await writers.write(certain, rolling(removesACustomer))
  for (const reader of readers) await reader.drain(certain)
  for await (const line of storedLines(service.database.pool, service.api.organizationId))
    recorder.write(line)
  return lines
}

/** The random numbers by which a writer removes the first customer that it knows. */
const removesACustomer = [0.31, 0, 0, 0]

/** A fixed sequence instead of random numbers. */
function rolling(rolls: readonly number[]): () => number {
  let next = 0
  return () => rolls[next++] ?? 0
}

/** Lines as a history. */
export function historyOf(lines: readonly Line[]): History {
  return async function* () {
    yield* lines
  }
}
