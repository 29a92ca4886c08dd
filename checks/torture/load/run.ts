/** Runs writers and followers at once, until so much has been acknowledged. */
import { dice } from '../../../packages/testbed/load.ts'
import { createReader, type Reader, type Source, writtenKinds } from './reader.ts'
import type { Recorder } from './recorder.ts'
import type { Call, Writers } from './writer.ts'

/** For every source, with these page sizes in turn. */
export function createReaders(recorder: Recorder, limits: readonly number[]): Reader[] {
  const sources: readonly Source[] = ['changes', ...writtenKinds]
  return limits.map((limit, n) => {
    const source = sources[n % sources.length] ?? 'changes'
    return createReader(recorder, { name: `${source}/${limit}`, source, limit })
  })
}

interface Work {
  readonly recorder: Recorder
  readonly writers: Writers
  readonly readers: readonly Reader[]
  /** Sends the next request of a writer or a follower. */
  readonly call: Call
  readonly clients: number
  readonly changes: number
  readonly seed: number
  /** Whether the work may end once enough is done; default: yes. */
  readonly mayEnd?: () => boolean
}

/** Resolves when so many changes are acknowledged, and all writers and followers are done. */
export async function work({
  writers,
  readers,
  call,
  clients,
  changes,
  seed,
  mayEnd = () => true,
}: Work): Promise<void> {
  const enough = () => writers.acknowledged >= changes && mayEnd()
  const over = new AbortController()
  const write = async (n: number) => {
    const roll = dice(seed * 1_000 + n)
    while (!enough() && !over.signal.aborted) {
      await writers.write(call, roll)
    }
  }
  const follow = async (reader: Reader, n: number) => {
    const roll = dice(seed * 1_000 + 500 + n)
    while (!enough() && !over.signal.aborted) {
      await reader.read(call, roll)
    }
  }
  try {
    await Promise.all([
      ...Array.from({ length: clients }, (_, n) => write(n)),
      ...readers.map((reader, n) => follow(reader, n)),
    ])
  } finally {
    // One that fails ends them all.
    over.abort()
  }
}
