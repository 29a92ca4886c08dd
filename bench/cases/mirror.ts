/** A first copy in each store, and exports, compared with a bare sync and a bare load of the rows; and verification. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exports, loadBare, mirrorOnce, newPlace, stores } from '../harness/mirror.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { syncFromEpoch } from '../harness/stream.ts'

export async function* mirror({ runs, full, shelf, only }: Scale): AsyncGenerator<Result> {
  const installation = await shelf.installation()
  const seeded = await shelf.organization(full ? 1_000_000 : 100_000)
  const rows = seeded.live
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-bench-'))
  const size = full ? '1M' : '100,000'
  try {
    for (const store of [...stores, ...exports].filter((name) => name.includes(only))) {
      const isExport = exports.some((name) => name === store)
      const speed: Run[] = []
      const memory: Run[] = []
      const verification: Run[] = []
      const bare: string[] = []
      for (let run = 0; run < runs; run++) {
        const synced = await syncFromEpoch(installation.service.url, seeded)
        const { order, remove } = await newPlace(installation, seeded, store, directory)
        try {
          const { loaded, verified, megabytes } = await mirrorOnce(order)
          const load = await loadBare(order)
          bare.push(`${synced.toFixed(1)} and ${load.toFixed(1)}`)
          speed.push({ value: rows / loaded, baseline: rows / Math.max(synced, load) })
          memory.push({ value: megabytes })
          verification.push({ value: verified })
        } finally {
          await remove()
        }
      }
      const conditions = { rows, 'seconds of the bare sync and the bare load': bare.join(', ') }
      const what = isExport ? `export of ${size} rows` : `${size} rows first`
      yield summarize(`mirror: ${what}, ${store}`, 'rows/s', conditions, speed)
      yield summarize(`mirror: most memory, ${size} rows, ${store}`, 'MB', { rows }, memory)
      if (!isExport) yield summarize(`mirror: verify ${size} rows, ${store}`, 's', { rows }, verification)
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}
