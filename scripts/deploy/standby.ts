/**
 * A primary and a standby that confirms each commit, with the standby promoted as the primary dies under load: what was acknowledged
 * is there, and copies are exact. Needs Debian's `postgresql`.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Customer } from '../../packages/sdk/src/generated.ts'
import { createClient, MemoryCopy } from '../../packages/sdk/src/index.ts'
import { newToken } from '../../packages/service/src/access/token.ts'
import type { Report } from '../deploy.ts'
import { serve } from '../service-process.ts'
import { createServerIn, makeDirectory, owner, runProgram, startServer } from './postgres-server.ts'
import { startReceiver } from './trial.ts'

const writers = 16
/** Of load, before the primary dies and after writes go on; ms. */
const span = 5_000

export async function tryStandby(report: Report): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-standby-'))
  chmodSync(scratch, 0o711)
  const receiver = await startReceiver(scratch)
  const primary = await createServerIn(join(scratch, 'primary'))
  const directory = makeDirectory(join(scratch, 'standby'))
  const name = `host=127.0.0.1 port=${primary.port} user=${owner.user} password=${owner.password} application_name=standby`
  runProgram('pg_basebackup', ['-D', directory, '-d', name, '--write-recovery-conf', '--checkpoint=fast'])
  const standby = await startServer(directory)
  await primary.run(
    'postgres',
    "alter system set synchronous_standby_names = 'standby'",
    'select pg_reload_conf()',
    'create database desk',
  )
  const way = await startWay(primary.port)
  const apiKey = newToken()
  const environment = {
    DESKWIRE_DATABASE_URL: `postgres://${owner.user}:${owner.password}@127.0.0.1:${way.port}/desk`,
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DESKWIRE_BOOTSTRAP_KEY: apiKey,
    DESKWIRE_RATE_LIMIT: '0',
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
    DESKWIRE_TARGET_CA: receiver.ca,
    DESKWIRE_LOG_LEVEL: 'silent',
  }
  const api = await serve(['--role', 'api', '--port', '0'], environment)
  const worker = await serve(['--role', 'worker'], environment)
  try {
    const { customers, webhooks } = createClient({ baseUrl: `${api.url}/v1`, apiKey, retries: 0 })
    const { secret } = await webhooks.create({ url: receiver.url, events: ['customer.created'] })
    const acknowledged = new Map<string, number>()
    let failed = 0
    let isOver = false
    const load = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !isOver; n++) {
        try {
          const { id } = await customers.create({ name: `Customer ${writer}-${n}` })
          acknowledged.set(id, performance.now())
        } catch {
          failed++
          await delay(50)
        }
      }
    })

    const follower = new MemoryCopy<Customer>()
    let cursor: string | undefined
    let exact = false
    const follow = async () => {
      for await (const page of customers.sync({ cursor })) {
        for (const change of page.changes) await follower.apply(change)
        cursor = page.cursor
        exact = page.checkpoint !== undefined && follower.verify(page.checkpoint).exact
      }
    }
    const following = (async () => {
      while (!isOver) await follow().catch(() => delay(50))
    })()

    await delay(span)
    const died = performance.now()
    const before = acknowledged.size
    await primary.stop('SIGQUIT')
    runProgram('pg_ctl', ['promote', '-D', directory, '--wait', '--silent'])
    const promoted = performance.now()
    way.leadTo(standby.port)
    while (![...acknowledged.values()].some((at) => at > promoted) && performance.now() < promoted + 60_000)
      await delay(5)
    const back = Math.min(...[...acknowledged.values()].filter((at) => at > promoted))
    await delay(span)
    isOver = true
    await Promise.all([...load, following])
    await follow()

    const lost = [...acknowledged.keys()].filter((id) => !follower.rows.has(id)).length
    const seconds = (ms: number) => (ms / 1000).toFixed(1)
    report(
      `${writers} writers: ${before} acknowledged changes before the primary dies and ${acknowledged.size - before} after, ${failed} refused; writes go on ${seconds(back - died)} s after it died, ${seconds(back - promoted)} s after the promotion`,
      before > 0 && acknowledged.size > before,
    )
    report(`${lost} of what was acknowledged is lost`, lost === 0)
    report(
      `a copy that was reading meanwhile, by the cursor that it had: ${exact ? 'exact' : 'not exact'}`,
      exact,
    )

    const until = performance.now() + 60_000
    let missing = acknowledged.size
    while (missing > 0 && performance.now() < until) {
      await delay(500)
      const received = await receiver.received(secret)
      missing = Math.max(0, follower.rows.size - received.size)
    }
    report(
      `${follower.rows.size - missing} of ${follower.rows.size} events delivered with a right signature`,
      missing === 0,
    )
    return `PostgreSQL ${primary.version.split(' ')[0]}, synchronous_standby_names set, both on one machine`
  } finally {
    await Promise.all([api.stop(), worker.stop()])
    way.close()
    await standby.stop('SIGINT')
    receiver.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** What an address that moves, or a proxy of TCP, is in an installation. */
async function startWay(port: number) {
  let target = port
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const other = connect(target, '127.0.0.1')
    for (const [one, another] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one)
      one.once('close', () => {
        sockets.delete(one)
        another.destroy()
      })
      one.on('error', () => {}) // it closes
      one.pipe(another)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(next: number) {
      target = next
      for (const socket of sockets) socket.destroy()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
