import { statfs } from 'node:fs/promises'
import { type Finding, findingsOf } from './finding.ts'

const gibibyte = 2 ** 30

/** A checkpoint may need as much space as the WAL may grow to. Bytes. */
const disk = { failed: gibibyte / 4, warning: 3 * gibibyte }

export async function checkDisk(directory: string): Promise<Finding> {
  const { bsize, bavail, blocks } = await statfs(directory)
  return diskFinding({ free: bsize * bavail, total: bsize * blocks, directory })
}

export function diskFinding(space: { free: number; total: number; directory: string }): Finding {
  const finding = findingsOf('disk')
  const shown = (bytes: number) => `${(bytes / gibibyte).toFixed(1)} GiB`
  const seen = `${shown(space.free)} of ${shown(space.total)} are free where ${space.directory} is`
  const advice =
    'make space: a database that cannot write stops, and starts again when it can. What takes most: see docs/guides/capacity.md'
  if (space.free < disk.failed) return finding.failed(seen, advice)
  if (space.free < disk.warning) return finding.warning(seen, advice)
  return finding.ok(seen)
}
