/**
 * `npm run check -- standby`: a standby that confirms each commit is promoted when the primary dies under load: nothing
 * acknowledged is missing, and copies are exact. And what is lost with an asynchronous standby.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Customer } from '../../packages/sdk/src/generated.ts'
import { createClient, MemoryCopy } from '../../packages/sdk/src/index.ts'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { startHooks } from '../../packages/testbed/arrivals.ts'
import { freePort, passOn } from '../../packages/testbed/loopback.ts'
import { deskwire, serve } from '../../packages/testbed/services.ts'
import { report } from '../report.ts'
import {
  createServerIn,
  makeDirectory,
  owner,
  type PostgresServer,
  runProgram,
  startServer,
} from './postgres-server.ts'
import { tryOut } from './trial.ts'

const writers = 16
/** In milliseconds, before the primary dies and after writes go on. */
const span = 5_000
/** How far the asynchronous standby lags when the primary dies, in milliseconds. */
const behind = 1_000

await tryStandby()
await tryStandbyBehind()

async function tryStandby(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-standby-'))
  chmodSync(scratch, 0o711)
  const receiver = await startHooks()
  const primary = await createServerIn(join(scratch, 'primary'))
  const standby = await followFrom(primary.port, join(scratch, 'standby'))
  await primary.run(
    'postgres',
    "alter system set synchronous_standby_names = 'standby'",
    'select pg_reload_conf()',
    'create database desk',
  )
  const way = await startWay(primary.port)
  const { apiKey, environment } = settingsOf(way.port, receiver.ca)
  const api = await serve(['--role', 'api'], { settings: environment })
  const worker = await serve(['--role', 'worker'], { settings: environment })
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
    await runProgram('pg_ctl', ['promote', '-D', standby.directory, '--wait', '--silent'])
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
  } finally {
    await Promise.all([api.end('SIGTERM'), worker.end('SIGTERM')])
    await way[Symbol.asyncDispose]()
    await standby.stop('SIGINT')
    await receiver[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * An asynchronous standby lacks the last second when it is promoted: what is lost, and that no reader misses that after
 * `deskwire backup mark-restored`.
 */
async function tryStandbyBehind(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-behind-'))
  chmodSync(scratch, 0o711)
  const receiver = await startHooks()
  const primary = await createServerIn(join(scratch, 'primary'))
  const link = await startWay(primary.port)
  const standby = await followFrom(link.port, join(scratch, 'standby'))
  await primary.run('postgres', 'create database desk')
  const way = await startWay(primary.port)
  const { apiKey, environment } = settingsOf(way.port, receiver.ca)
  const start = async () => [
    await serve(['--role', 'api'], { settings: environment }),
    await serve(['--role', 'worker'], { settings: environment }),
  ]
  let services = await start()
  const customersOf = (url: string | undefined) => createClient({ baseUrl: `${url}/v1`, apiKey, retries: 0 })
  try {
    const { customers, webhooks } = customersOf(services[0]?.url)
    const { secret } = await webhooks.create({ url: receiver.url, events: ['customer.created'] })
    const acknowledged = new Set<string>()
    let isOver = false
    const load = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !isOver; n++) {
        const made = await customers.create({ name: `Customer ${writer}-${n}` }).catch(() => null)
        if (made === null) return
        acknowledged.add(made.id)
      }
    })
    await delay(span)
    link.leadTo(await freePort())
    await delay(behind)
    let cursor: string | undefined
    for await (const page of customers.sync({})) cursor = page.cursor
    isOver = true
    await Promise.all(load)
    const told = await receiver.received(secret)
    await primary.stop('SIGQUIT')
    await Promise.all(services.map((service) => service.end('SIGTERM')))

    await runProgram('pg_ctl', ['promote', '-D', standby.directory, '--wait', '--silent'])
    way.leadTo(standby.port)
    await deskwire(['backup', 'mark-restored'], { settings: environment })
    services = await start()
    const again = customersOf(services[0]?.url)
    const refusal = await again.customers
      .sync({ cursor })
      [Symbol.asyncIterator]()
      .next()
      .then(
        () => 'accepted',
        (error: { code?: string }) => error.code ?? String(error),
      )
    const copy = new MemoryCopy<Customer>()
    let exact = false
    for await (const page of again.customers.sync({})) {
      for (const change of page.changes) await copy.apply(change)
      exact = page.checkpoint !== undefined && copy.verify(page.checkpoint).exact
    }
    const lost = [...acknowledged].filter((id) => !copy.rows.has(id)).length
    report(
      `a standby that confirms nothing, and has heard nothing for ${behind / 1000} s as it is promoted: ${lost} of ${acknowledged.size} acknowledged changes are lost, of which receivers had been told of ${told.size} in all`,
      lost > 0,
    )
    report(
      `after deskwire backup mark-restored: the cursor of a copy that had some of them is refused (${refusal}), and a copy made anew is ${exact ? 'exact' : 'not exact'}`,
      refusal === 'cursor_too_old' && exact,
    )
    const { line, good } = await tryOut(services[0]?.url ?? '', { apiKey, receiver })
    report(`and then: ${line}`, good)
  } finally {
    await Promise.all(services.map((service) => service.end('SIGTERM')))
    await way[Symbol.asyncDispose]()
    await link[Symbol.asyncDispose]()
    await standby.stop('SIGINT')
    await receiver[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** A standby of the primary behind this port. */
async function followFrom(port: number, directory: string): Promise<PostgresServer> {
  const name = `host=127.0.0.1 port=${port} user=${owner.user} password=${owner.password} application_name=standby`
  makeDirectory(directory)
  // Not at once: the connection to the primary may lead through this process.
  await runProgram('pg_basebackup', [
    ...['-D', directory, '-d', name, '--write-recovery-conf', '--checkpoint=fast'],
  ])
  return startServer(directory)
}

/** For processes that use the address. */
function settingsOf(port: number, ca: string) {
  const apiKey = newToken()
  const environment = {
    DESKWIRE_DATABASE_URL: `postgres://${owner.user}:${owner.password}@127.0.0.1:${port}/desk`,
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DESKWIRE_BOOTSTRAP_KEY: apiKey,
    DESKWIRE_RATE_LIMIT: '0',
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
    DESKWIRE_TARGET_CA: ca,
    DESKWIRE_LOG_LEVEL: 'silent',
  }
  return { apiKey, environment }
}

/** Plays an address that moves, or a TCP proxy. */
async function startWay(port: number) {
  let target = port
  const way = await passOn(() => target)
  return {
    ...way,
    leadTo(next: number) {
      target = next
      way.hangUp()
    },
  }
}
