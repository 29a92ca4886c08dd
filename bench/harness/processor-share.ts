/**
 * A share of the processor for a server of its own, as it has a machine of its own in life: a control group of Linux, version 1 or 2,
 * with a quota. It is made below the group that the benchmark runs in or, where that may have none, below the next one above.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { childrenOf } from './processor-time.ts'

interface ProcessorShare {
  /** Moves a process and its children into the group; later children follow. */
  take(pid: number): Promise<void>
  /** In percent of one core for all together; null: no limit. */
  limit(percent: number | null): Promise<void>
  /** Throws when the process or a child is not in the group. */
  requireAll(pid: number): Promise<void>
  /** When all have ended. */
  remove(): Promise<void>
}

/** The message says why, in one line. */
export class NoControlGroup extends Error {}

/** Short, so that a process that has used up its share waits for milliseconds, and not for a tenth of a second. */
const periodMicroseconds = 10_000

interface Version {
  readonly file: string
  /** The content of the file. */
  readonly text: (percent: number | null) => string
}

const quotaOf = (percent: number) => Math.round((percent / 100) * periodMicroseconds)
const one: Version = {
  file: 'cpu.cfs_quota_us',
  text: (percent) => String(percent === null ? -1 : quotaOf(percent)),
}
const two: Version = {
  file: 'cpu.max',
  text: (percent) => `${percent === null ? 'max' : quotaOf(percent)} ${periodMicroseconds}`,
}

/** @throws NoControlGroup */
export async function createShare(name: string): Promise<ProcessorShare> {
  const { version, group } = await makeGroup(`deskwire-bench-${process.pid}-${name}`)
  const processes = join(group, 'cgroup.procs')
  const members = async () => new Set((await readFile(processes, 'utf8')).split('\n').map(Number))
  const outside = async (pid: number) => {
    const inside = await members()
    return [pid, ...(await childrenOf(pid))].filter((each) => !inside.has(each))
  }
  if (version === one) await writeFile(join(group, 'cpu.cfs_period_us'), String(periodMicroseconds))
  return {
    async take(pid) {
      // Children that started before their parent was moved are outside.
      for (let left = await outside(pid); left.length > 0; left = await outside(pid))
        for (const each of left) await writeFile(processes, String(each)).catch(ignoreEnded)
    },
    limit: (percent) => writeFile(join(group, version.file), version.text(percent)),
    async requireAll(pid) {
      const before = await outside(pid)
      // A child that started between two reads may be in the group by the next one.
      const left = before.length === 0 ? [] : (await outside(pid)).filter((each) => before.includes(each))
      if (left.length > 0) throw new Error(`processes ${left.join(', ')} of the server are not in its group`)
    },
    remove: () => rmdir(group),
  }
}

function ignoreEnded(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ESRCH') throw error
}

async function makeGroup(name: string): Promise<{ version: Version; group: string }> {
  const { version, top, own } = await ownGroup()
  let reason = ''
  for (let above = own; above.startsWith(top); above = dirname(above)) {
    const group = join(above, name)
    try {
      await mkdir(group)
      try {
        await writeFile(join(group, version.file), version.text(null))
        return { version, group }
      } catch (error) {
        await rmdir(group)
        throw error
      }
    } catch (error) {
      reason = (error as Error).message
    }
  }
  throw new NoControlGroup(`no control group with a quota can be made here: ${reason}`)
}

/** This process's group, and the topmost visible one. */
async function ownGroup(): Promise<{ version: Version; top: string; own: string }> {
  const [groups, mounts] = await Promise.all(
    ['/proc/self/cgroup', '/proc/self/mountinfo'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const lines = (groups ?? '').split('\n').map((line) => line.split(':'))
  const ofProcessor = lines.find(([, controllers]) => controllers?.split(',').includes('cpu'))
  const [, , path = ''] = ofProcessor ?? lines.find(([number]) => number === '0') ?? []
  const version = ofProcessor === undefined ? two : one
  for (const line of (mounts ?? '').split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , root = '', top = ''] = before.split(' ')
    const [type, , options = ''] = after.split(' ')
    const fits =
      version === two ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes('cpu')
    // A container sees a part of the tree, with paths from the whole tree's root.
    if (fits) return { version, top, own: join(top, path.startsWith(root) ? path.slice(root.length) : path) }
  }
  throw new NoControlGroup('no control groups of the processor are mounted here')
}
