/**
 * The torture: writers and followers on three services whose clocks step, while commits are stalled and services and
 * database are killed. The recorded history is checked.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { maxClockSkew } from '../../packages/service/src/journal/commit-protocol.ts'
import { dice } from '../../packages/testbed/load.ts'
import { checkHistory } from './history/check.ts'
import { historyFile, type Line } from './history/format.ts'
import type { Verdict } from './history/verdict.ts'
import { type Installation, install } from './installation.ts'
import { createRecorder, fileSink, type Recorder } from './load/recorder.ts'
import { createReaders, work } from './load/run.ts'
import { storedLines } from './load/stored.ts'
import { createWriters } from './load/writer.ts'
import { stallCommit } from './stall.ts'

export interface TortureOptions {
  readonly changes: number
  readonly writers: number
  /** Of each follower. */
  readonly limits: readonly number[]
  /** One commit in so many is stalled. */
  readonly stallOneIn: number
  /** At most, in milliseconds. */
  readonly stallFor: number
  readonly serviceKills: number
  readonly databaseKills: number
  readonly seed: number
  readonly unlocked: boolean
  /** Where to keep the history; null: it is removed. */
  readonly keep: string | null
  /** A data directory with the schema, to begin with a copy of it; null: the database is created. */
  readonly installed: string | null
  readonly say: (line: string) => void
}

export interface TortureReport {
  readonly verdict: Verdict
  readonly seconds: number
  readonly commits: number
  readonly stalls: number
  readonly serviceKills: number
  readonly databaseKills: number
  readonly tally: Readonly<Record<string, number>>
}

/** How far the services' clocks may be off, in milliseconds: hours behind, and ahead beyond the limit. */
const clocks = { behind: 3 * 3_600_000, ahead: 2 * maxClockSkew }

export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-history-'))
  const file = options.keep ?? join(directory, 'history.ndjson')
  try {
    const done = await record(options, file)
    options.say('checking what was recorded')
    return { ...done, verdict: await checkHistory(historyFile(file)) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function record(options: TortureOptions, file: string): Promise<Omit<TortureReport, 'verdict'>> {
  const { changes, limits, seed, unlocked, installed, say } = options
  await using installation = await install({ seed, clocks, unlocked, installed })
  const sink = fileSink(file)
  const commits = commitCounter()
  const recorder = createRecorder((line) => {
    commits.take(line)
    sink.write(line)
  })
  const writers = createWriters(recorder)
  const readers = createReaders(recorder, limits)
  const since = performance.now()
  const torment = startTorment(installation, recorder, {
    ...options,
    progress: () => writers.acknowledged / changes,
    commits: () => commits.count,
  })
  try {
    const { call } = installation
    const clients = options.writers
    const mayEnd = () => torment.isOver
    await work({ recorder, writers, readers, call, clients, changes, seed, mayEnd })
  } finally {
    await torment.stop()
  }
  const seconds = (performance.now() - since) / 1_000
  say(`${writers.acknowledged} changes acknowledged in ${Math.round(seconds)} s; followers catch up`)
  for (const reader of readers) await reader.drain(installation.call)
  const { organizationId } = installation.organization
  for await (const line of storedLines(installation.pool, organizationId)) recorder.write(line)
  await sink.close()
  return { seconds, commits: commits.count, ...torment.done, tally: Object.fromEntries(writers.tally) }
}

/** Counts commits by their stamps, as they are acknowledged. */
function commitCounter() {
  const stamps = new Set<string>()
  let count = 0
  return {
    get count() {
      return count
    },
    take(line: Line) {
      if (line.does !== 'told' || line.version === undefined || stamps.has(line.version[2])) return
      stamps.add(line.version[2])
      count++
      // Responses of one commit come close together.
      if (stamps.size > 1_000) stamps.delete(stamps.values().next().value as string)
    },
  }
}

interface Torment {
  readonly done: { stalls: number; serviceKills: number; databaseKills: number }
  /** Whether every kill has been done, or one has failed. */
  readonly isOver: boolean
  stop(): Promise<void>
}

function startTorment(
  installation: Installation,
  recorder: Recorder,
  options: TortureOptions & { readonly progress: () => number; readonly commits: () => number },
): Torment {
  const done = { stalls: 0, serviceKills: 0, databaseKills: 0 }
  const roll = dice(options.seed)
  let stopping = false
  let over = false

  async function stalls(): Promise<void> {
    let next = options.stallOneIn
    while (!stopping) {
      await delay(20)
      if (options.commits() < next) continue
      next += options.stallOneIn
      const { pool, cluster } = installation
      if (await stallCommit(pool, cluster, roll() * options.stallFor)) done.stalls++
    }
  }

  async function kills(): Promise<void> {
    const total = options.serviceKills + options.databaseKills
    for (let n = 0; n < total && !stopping; n++) {
      while (!stopping && options.progress() < (n + 1) / (total + 1)) await delay(20)
      if (stopping) return
      const ofDatabase = Math.floor(((n + 1) * options.databaseKills) / total) > done.databaseKills
      recorder.write({ does: 'mark', what: ofDatabase ? 'kill -9 of the database' : 'kill -9 of a service' })
      if (ofDatabase) {
        await installation.killDatabase()
        done.databaseKills++
      } else {
        await installation.killService(Math.floor(roll() * 3))
        done.serviceKills++
      }
      recorder.write({ does: 'mark', what: 'all run again' })
    }
  }

  const killing = kills().finally(() => {
    over = true
  })
  const running = Promise.all([stalls(), killing])
  // Reported by stop.
  running.catch(() => {})
  return {
    done,
    get isOver() {
      return over
    },
    async stop() {
      stopping = true
      await running
    },
  }
}
