/** `deskwire import` of a CSV file, as a process of its own, into an empty organization. */
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Program } from '../../packages/testbed/program.ts'
import { startDeskwire } from '../../packages/testbed/services.ts'
import { install, peakMegabytes } from '../harness/installation.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const rows = 100_000

export async function* imports({ runs }: Scale): AsyncGenerator<Result> {
  const speed: Run[] = []
  const importer: Run[] = []
  const server: Run[] = []
  for (let run = 0; run < runs; run++) {
    await using installation = await install()
    const { service } = installation
    const { token } = await installation.newOrganization()
    const { seconds, peak } = await importCustomers({
      DESKWIRE_URL: service.url,
      DESKWIRE_API_KEY: token,
    })
    speed.push({ value: rows / seconds })
    importer.push({ value: peak })
    server.push({ value: await peakMegabytes(service.pid) })
  }
  const conditions = { rows, columns: 7, 'batches of': 1_000, 'at once': 3 }
  yield summarize('import: customers from CSV', 'rows/s', conditions, speed)
  yield summarize('import: peak memory of the importer', 'MB', { rows }, importer)
  yield summarize('import: peak memory of the service', 'MB', { rows, database: 'apart' }, server)
}

/** Seconds from the importer's first read of the file; memory in MB. */
async function importCustomers(
  environment: Readonly<Record<string, string>>,
): Promise<{ seconds: number; peak: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-bench-'))
  try {
    const path = join(directory, 'customers.csv')
    await pipeline(lines(), createWriteStream(path))
    const importer = startDeskwire(['import', path, '--json'], { settings: environment, shown: true })
    const [{ stdout }, peak] = await Promise.all([importer.ended, watchPeak(importer)])
    const { created, seconds } = JSON.parse(stdout) as { created: number; seconds: number }
    if (created !== rows) throw new Error(`of ${rows} rows ${created} were created`)
    return { seconds, peak }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function* lines(): Generator<string> {
  yield 'externalId,name,company,email,phone,tags,customAttributes.plan\n'
  for (let n = 0; n < rows; n++) {
    const phone = `+4420${String(n).padStart(8, '0')}`
    yield `crm-${n},"Customer ${n}, of many",Company ${n % 997},customer-${n}@example.com,${phone},vip;import,gold\n`
  }
}

/** The process's peak memory. */
async function watchPeak({ pid, ended }: Program): Promise<number> {
  let peak = 0
  const look = async () => {
    // It has ended since the last look.
    peak = await peakMegabytes(pid).catch(() => peak)
  }
  const timer = setInterval(look, 100)
  await ended
  clearInterval(timer)
  return peak
}
