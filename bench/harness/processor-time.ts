/** CPU time of processes in the kernel's unit, hundredths of a second. */
import { readdir, readFile } from 'node:fs/promises'
import type { Pool } from 'pg'

/** Of a process and optionally its children, in seconds. */
export async function processorSeconds(pid: number, withChildren = false): Promise<number> {
  const own = await statOf(pid)
  if (own === null) throw new Error(`process ${pid} has ended`)
  if (!withChildren) return own.seconds
  const children = await childStats(pid)
  // Children that have ended are counted with their parent.
  return own.seconds + own.endedChildren + children.reduce((sum, stat) => sum + stat.seconds, 0)
}

/** Running children. Zombies are in no group any more. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  return (await childStats(pid)).filter((stat) => !stat.isOver).map((stat) => stat.pid)
}

async function childStats(pid: number) {
  const all = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf))
  return all.filter((stat) => stat !== null).filter((stat) => stat.parent === pid)
}

/** The postmaster's, on this machine. */
export async function serverPid(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const stat = await statOf(rows[0]?.pid ?? 0)
  if (stat === null) throw new Error('the connection that was asked has ended')
  return stat.parent
}

/** Null for one that has ended. */
async function statOf(pid: number | string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  // The second field, the program's name, may contain anything; then come state and parent.
  const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const fields = rest.map(Number)
  const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [0, 10, 11, 12, 13].map(
    (n) => fields[n],
  )
  return {
    pid: Number(pid),
    parent,
    isOver: state === 'Z' || state === 'X',
    seconds: (user + system) / 100,
    endedChildren: (childUser + childSystem) / 100,
  }
}
