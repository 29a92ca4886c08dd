/** PATCH while a snapshot is held, as a backup or a report holds one: dead row versions stay until it ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deskwire, socketUrl } from '../../packages/testbed/services.ts'
import { type Installation, install, installFor } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { customerIds, patches } from '../harness/patches.ts'
import { startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import type { Result } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { seed } from '../harness/seed.ts'

const rows = 20_000
/** Rows of another organization, so that a backup takes a while. */
const backedUp = 1_000_000
const clients = 16
/** The load alternates between the two installations, so that both have the same machine. */
const slice = 3
const period = 30

export async function* snapshot({ seconds, only }: Scale): AsyncGenerator<Result> {
  if ('without an endpoint'.includes(only))
    yield* besideControl('without an endpoint', seconds, async () => withLoad(await install()), holdSnapshot)
  if ('with an endpoint and its deliveries'.includes(only))
    yield* besideControl(
      'with an endpoint and its deliveries',
      seconds,
      async () => {
        const installation = await installFor(startReceiver, ['--role', 'all'])
        return withLoad(installation, (organization) =>
          register(installation.service.url, organization, installation.receiver, {
            count: 1,
            events: ['customer.updated'],
          }),
        )
      },
      holdSnapshot,
    )
  if ('of a large desk that is backed up'.includes(only))
    yield* besideControl(
      'of a large desk that is backed up',
      seconds,
      async () => {
        const installation = await install()
        await seed(installation, { live: backedUp })
        return withLoad(installation)
      },
      backUpAgainAndAgain,
    )
}

type Loaded = Awaited<ReturnType<typeof withLoad>>

async function withLoad(
  installation: Installation,
  prepare: (organization: Awaited<ReturnType<typeof seed>>) => Promise<void> = async () => {},
) {
  const organization = await seed(installation, { live: rows })
  await prepare(organization)
  const { url } = installation.service
  const request = patches([organization], await customerIds([installation.pool]), clients)
  return {
    connection: installation.connection,
    pool: installation.pool,
    /** Changes of that many seconds. */
    load: async (seconds: number) =>
      (await drive({ url, clients, seconds, status: 200, request })).perSecond * seconds,
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  }
}

async function* besideControl(
  what: string,
  seconds: number,
  start: () => Promise<Loaded>,
  hold: (of: Loaded) => Promise<AsyncDisposable>,
): AsyncGenerator<Result> {
  await using control = await start()
  await using held = await start()
  for (const { load } of [control, held]) await load(slice)
  await using _ = await hold(held)
  const lasts = Math.min(period, seconds / 2)
  const periods: { readonly held: number; readonly control: number }[] = []
  for (let n = 0; n < Math.round(seconds / lasts); n++) {
    const changes = { held: 0, control: 0 }
    for (let loaded = 0; loaded < lasts; loaded += slice) {
      changes.control += await control.load(slice)
      changes.held += await held.load(slice)
    }
    periods.push({ held: changes.held / lasts, control: changes.control / lasts })
  }
  const [first, last] = [periods[0], periods.at(-1)]
  if (first === undefined || last === undefined) throw new Error('nothing was measured')
  const conditions = {
    rows,
    clients,
    seconds,
    'seconds a run': lasts,
    control: 'the same without a snapshot, alternately',
  }
  const runs = periods.map(({ held }) => Math.round(held))
  const name = `snapshot: PATCH ${what}`
  const ratio = last.held / last.control
  yield {
    case: `${name}, at the end`,
    conditions,
    value: Math.round(last.held),
    unit: 'changes/s',
    baseline: Math.round(last.control),
    ratio: Number(ratio.toPrecision(3)),
    runs,
  }
  yield {
    case: `${name}, the end next to the beginning`,
    conditions,
    value: Number((ratio / (first.held / first.control)).toPrecision(3)),
    unit: 'ratio of ratios',
    runs: periods.map(({ held, control }) => Number((held / control).toPrecision(3))),
  }
}

/** One transaction with a snapshot, until it is disposed of. */
async function holdSnapshot({ pool }: Loaded): Promise<AsyncDisposable> {
  const client = await pool.connect()
  await client.query('set idle_in_transaction_session_timeout = 0')
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from organizations')
  return {
    async [Symbol.asyncDispose]() {
      await client.query('rollback')
      client.release(true)
    },
  }
}

/** `deskwire backup create`, one after the other, until it is disposed of. Each is one snapshot. */
async function backUpAgainAndAgain({ connection }: Loaded): Promise<AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-bench-'))
  const file = join(directory, 'desk.backup')
  const settings = { DESKWIRE_DATABASE_URL: socketUrl(connection) }
  let isOver = false
  const backups = (async () => {
    while (!isOver) {
      const { code, stderr } = await deskwire(['backup', 'create', file], { settings })
      if (code !== 0) throw new Error(`the backup failed: ${stderr}`)
      await rm(file)
    }
  })()
  backups.catch(() => {})
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await backups
      await rm(directory, { recursive: true })
    },
  }
}
