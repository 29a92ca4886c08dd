/**
 * Two databases, each with the same small share of the CPU, so that they are the bottleneck: in reality each has a
 * machine of its own, and here all share two cores.
 */
import { cpus } from 'node:os'
import { createPool, endPool } from '../../packages/service/src/db/pool.ts'
import { standingUntil, temporaryDirectory } from './installation.ts'
import { createShare } from './processor-share.ts'
import { processorSeconds } from './processor-time.ts'
import { openNamed } from './several-databases.ts'

export interface Limited<A> {
  readonly done: A
  /** Of its share. */
  readonly used: readonly number[]
  /** Of all cores. */
  readonly idle: number
}

export type LimitedDatabases = Awaited<ReturnType<typeof openLimited>>

/** `await using` removes all. @throws NoControlGroup */
export async function openLimited() {
  await using stack = new AsyncDisposableStack()
  const { dataDir, remove } = await temporaryDirectory()
  stack.defer(remove)
  const open = async (name: string) => {
    const share = await createShare(name)
    stack.defer(standingUntil(() => share.remove()))
    const { server } = await openNamed(stack, dataDir, name)
    const pid = await server.pid()
    await share.take(pid)
    const administrator = createPool(
      { ...server.connection, user: 'postgres' },
      { max: 1, onIdleError: () => {} },
    )
    stack.defer(() => endPool(administrator))
    return { name, server, share, pid, administrator }
  }
  const [one, two] = [await open('one'), await open('two')]
  const both = [one, two]
  const limit = async (to: number | null) => {
    for (const { share } of both) await share.limit(to)
  }
  const spent = () => Promise.all(both.map(({ pid }) => processorSeconds(pid, true)))
  const moved = stack.move()

  return {
    dataDir,
    one,
    two,
    /** Limits each to so many percent of a core during the work. */
    async limited<A>(percent: number, work: () => Promise<A>): Promise<Limited<A>> {
      for (const { administrator } of both) {
        await administrator.query('vacuum (analyze)')
        await administrator.query('checkpoint')
      }
      await limit(percent)
      try {
        const [before, idle, since] = [await spent(), idleSeconds(), performance.now()]
        const done = await work()
        const elapsed = (performance.now() - since) / 1_000
        const after = await spent()
        const used = after.map((each, at) => (each - (before[at] ?? 0)) / ((elapsed * percent) / 100))
        for (const { share, pid } of both) await share.requireAll(pid)
        return { done, used, idle: (idleSeconds() - idle) / elapsed / cpus().length }
      } finally {
        await limit(null)
      }
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

function idleSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1_000
}
