/** The supervisor outlives whatever its worker does not. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { kill } from '../../../testbed/program.ts'
import { workerOf } from '../../../testbed/services.ts'
import type { WorkerMessage, WorkerOrders } from '../../src/roles/supervise.ts'

interface Supervisor extends AsyncDisposable {
  readonly process: ChildProcess & { readonly pid: number }
  readonly logged: readonly { readonly msg: string; readonly signal?: string }[]
}

/** It starts with every file descriptor taken. */
function startSupervisor(): Supervisor {
  const fixture = join(import.meta.dirname, 'supervise.fixture.ts')
  const child = spawn('/bin/sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, fixture], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const logged: { msg: string; signal?: string }[] = []
  child.on('message', (line) => logged.push(line as { msg: string }))
  const ended = once(child, 'exit')
  return {
    process: child as Supervisor['process'],
    logged,
    async [Symbol.asyncDispose]() {
      // Its worker follows it.
      child.kill('SIGKILL')
      await ended
    },
  }
}

test('a worker that cannot be forked, or is killed while it starts, is replaced until one runs', async () => {
  await using supervisor = startSupervisor()
  const { process: child, logged } = supervisor
  await eventually('forking failed, twice', () => logged.filter(({ msg }) => /failed/.test(msg)).length >= 2)
  expect(await workerOf(child)).toBe(null)
  child.send('give them back')

  for (let n = 0; n < 2; n++) {
    const pid = await eventually('a worker is started', () => workerOf(child))
    kill(pid)
    await eventually('it is gone', async () => (await workerOf(child)) !== pid)
  }
  const last = await eventually('a worker is started', () => workerOf(child))
  expect(logged.filter(({ signal }) => signal === 'SIGKILL')).toHaveLength(2)

  const ended = once(child, 'exit')
  child.send('stop')
  expect(await ended).toEqual([0, null])
  expect(() => process.kill(last, 0)).toThrow('ESRCH')
})

test('a worker whose parent is gone before it is ready ends in peace', async () => {
  await using database = await testDatabase()
  const child = fork(join(import.meta.dirname, '../../src/roles/worker-process.ts'), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  const complaints = text(child.stderr as NonNullable<typeof child.stderr>)
  const ended = once(child, 'exit')
  const orders: WorkerOrders = {
    databases: [{ name: null, address: database.connection }],
    settings: deliverySettings,
    summaries: null,
    workerId: randomUUID(),
    logLevel: 'silent',
  }
  child.send(orders)
  child.send({ serve: 0 } satisfies WorkerMessage)
  child.disconnect()
  expect(await ended).toEqual([0, null])
  expect(await complaints).toBe('')
})
