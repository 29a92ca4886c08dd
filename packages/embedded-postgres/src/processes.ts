// Finds the server's processes after their parent is gone. PostgreSQL puts a mark of the cluster directory's device
// and inode, which a copy does not share, on the command line of the server and into the titles of its children. Only
// processes of the cluster's owner count; one that ended and was not reaped has no command line.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hasCode } from './error.ts'

interface Running {
  readonly pid: number
  readonly uid: number
  readonly command: string
}

/** The setting that marks the processes of a cluster, as an argument for `-c`. */
export async function markArgument(cluster: string): Promise<string> {
  return `cluster_name=${(await identify(cluster)).mark}`
}

/** Ids of all processes of a cluster: server, its children, or the program that creates it. */
export async function processesOf(cluster: string): Promise<number[]> {
  const { mark, uid } = await identify(cluster)
  const running = process.platform === 'linux' ? fromProc() : await fromPs()
  return running.filter((one) => one.uid === uid && carries(one.command, mark)).map((one) => one.pid)
}

export async function isProcessOf(cluster: string, pid: number): Promise<boolean> {
  const { mark, uid } = await identify(cluster)
  const [one] = process.platform === 'linux' ? [fromProcEntry(String(pid))] : await fromPs(pid)
  return one !== undefined && one !== null && one.uid === uid && carries(one.command, mark)
}

/** The command line of any process; null when there is none. */
export async function commandOf(pid: number): Promise<string | null> {
  const [one] = process.platform === 'linux' ? [fromProcEntry(String(pid))] : await fromPs(pid)
  return one?.command ?? null
}

/** Whether the kernel knows this process id: also true of one that ended and was not reaped yet. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/** Waits until nothing runs on a cluster. Returns whether that happened within `ms`. */
export async function waitUntilIdle(cluster: string, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms
  let [one] = await processesOf(cluster)
  while (one !== undefined) {
    if (performance.now() > deadline) return false
    await delay(25)
    if (!(await isProcessOf(cluster, one))) [one] = await processesOf(cluster)
  }
  return true
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}

async function identify(cluster: string): Promise<{ mark: string; uid: number }> {
  const { dev, ino, uid } = await stat(cluster, { bigint: true })
  return { mark: `deskwire-${dev}-${ino}`, uid: Number(uid) }
}

function carries(command: string, mark: string): boolean {
  if (command.startsWith(`postgres: ${mark}: `)) return true
  return /(^|\/)(postgres|initdb) /.test(command) && ` ${command} `.includes(` cluster_name=${mark} `)
}

/** In one go: the kernel has all of it in memory, and awaiting each file took longer than reading it. */
function fromProc(): Running[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return names.map(fromProcEntry).filter((one) => one !== null)
}

function fromProcEntry(name: string): Running | null {
  try {
    const directory = join('/proc', name)
    const { uid } = statSync(directory)
    const command = readFileSync(join(directory, 'cmdline'), 'utf8').replaceAll('\0', ' ').trim()
    return command === '' ? null : { pid: Number(name), uid, command }
  } catch {
    return null // it ended meanwhile
  }
}

async function fromPs(pid?: number): Promise<Running[]> {
  const selection = pid === undefined ? ['-ax'] : ['-p', String(pid)]
  const run = promisify(execFile)('ps', [...selection, '-ww', '-o', 'pid=,uid=,command='], {
    maxBuffer: 16 << 20,
  })
  const { stdout } = await run.catch((error: unknown) => {
    if (pid !== undefined && hasCode(error, '1')) return { stdout: '' } // no such process
    throw error
  })
  return stdout.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S.*?)\s*$/.exec(line)
    return match ? [{ pid: Number(match[1]), uid: Number(match[2]), command: match[3]! }] : []
  })
}
