/**
 * `npm run check -- history FILE [--json]`: checks a recorded history. Exits with 1 for a fault, 2 without a history.
 */
import { parseArgs } from 'node:util'
import { checkHistory, isClean } from './history/check.ts'
import { historyFile } from './history/format.ts'
import { describeVerdict } from './history/report.ts'

const usage = 'history FILE [--json]: FILE is a history as checks/torture/history/format.ts describes it'

process.exitCode = await main()

async function main(): Promise<number> {
  const parsed = arguments_()
  if (parsed === null) return refuse(usage)
  try {
    const verdict = await checkHistory(historyFile(parsed.file))
    process.stdout.write(parsed.json ? `${JSON.stringify(verdict)}\n` : describeVerdict(verdict))
    return isClean(verdict) ? 0 : 1
  } catch (error) {
    return refuse(`${parsed.file}: ${(error as Error).message}`)
  }
}

function arguments_(): { file: string; json: boolean } | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false } },
    })
    const [file, ...more] = positionals
    return file === undefined || more.length > 0 ? null : { file, json: values.json }
  } catch {
    return null
  }
}

function refuse(why: string): number {
  process.stderr.write(`history: ${why}\n`)
  return 2
}
