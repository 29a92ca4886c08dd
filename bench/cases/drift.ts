/**
 * A copy with rows that were changed, dropped, invented and damaged by SQL, while the service is written to: whether
 * verify finds exactly those and repair fixes them, and their calls and bytes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Mirror } from '@deskwire/mirror'
import { PostgresStore } from '@deskwire/mirror/postgres'
import { createClient, type Fetch } from '@deskwire/sdk'
import { Client } from 'pg'
import { mirrorOnce, newPlace } from '../harness/mirror.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { seed } from '../harness/seed.ts'

export async function* drift({ full, shelf }: Scale): AsyncGenerator<Result> {
  const installation = await shelf.installation()
  // Its own, as it is written to.
  const seeded = await seed(installation, { live: full ? 1_000_000 : 20_000 })
  const directory = await mkdtemp(join(tmpdir(), 'deskwire-bench-'))
  const { order, remove } = await newPlace(installation, seeded, 'PostgreSQL', directory)
  const sql = new Client(order.connection)
  const spent = nothingSpent()
  const client = createClient({ baseUrl: `${order.url}/v1`, apiKey: order.token, fetch: counting(spent) })
  const mirror = new Mirror({ client, store: new PostgresStore({ connection: order.connection }) })
  try {
    await mirrorOnce(order)
    await sql.connect()
    const whole = await sql.query<{ bytes: string }>(
      'select sum(octet_length(_body)) as bytes from deskwire.customers',
    )
    const wholeBytes = Number(whole.rows[0]?.bytes)
    for (const count of [0, 1, 100, 10_000]) {
      const touched = await touch(sql, count)
      const writing = write(order.url, order.token)
      await mirror.catchUp()
      Object.assign(spent, nothingSpent())
      const since = performance.now()
      const { differences } = await mirror.verify()
      const run: Run = { value: (performance.now() - since) / 1_000 }
      const share = `${((100 * spent.bytes) / wholeBytes).toFixed(2)} %`
      const conditions = {
        rows: seeded.live,
        differences: count,
        calls: spent.calls,
        bytes: spent.bytes,
        'of the bytes of all rows': share,
        'beside them, bytes of what others changed': spent.streamed,
      }
      const found = differences.map(({ id }) => id).sort()
      if (found.join() !== touched.sort().join())
        throw new Error(`of ${count} rows that were touched, ${found.length} were found`)
      const repair = performance.now()
      await mirror.repair()
      const repaired: Run = { value: (performance.now() - repair) / 1_000 }
      const written = await writing.stop()
      const after = await mirror.verify()
      if (!after.exact) throw new Error(`${after.differences.length} rows were not mended`)
      yield summarize(`drift: verify, ${count} of ${seeded.live} rows differ`, 's', conditions, [run])
      const meanwhile = { rows: seeded.live, differences: count, 'changes by others meanwhile': written }
      yield summarize(`drift: verify and repair, ${count} of ${seeded.live} rows differ`, 's', meanwhile, [
        repaired,
      ])
    }
  } finally {
    await mirror.close()
    await sql.end()
    await remove()
    await rm(directory, { recursive: true })
  }
}

/**
 * Changes so many rows, evenly spread, in five ways; returns their ids. An invented row has an id next to an existing
 * one.
 */
async function touch(sql: Client, count: number): Promise<string[]> {
  if (count === 0) return []
  const { rows } = await sql.query<{ id: string }>(
    `select id from (select id, row_number() over (order by id) as n, count(*) over () as total from deskwire.customers
         where name like 'Ada Lovelace%' and id::text not like '%ffff') c
       where n % greatest(1, total / $1) = 0 limit $1`,
    [count],
  )
  const touched = rows.map(({ id }) => id)
  const of = (manner: number) => touched.filter((_, n) => n % 5 === manner)
  const ids = 'where id = any($1::uuid[])'
  await sql.query(`update deskwire.customers set company = 'Mallory Ltd' ${ids}`, [of(0)])
  await sql.query(`update deskwire.customers set _body = left(_body, 100) ${ids}`, [of(1)])
  await sql.query(
    `update deskwire.customers set name = 'Mallory', _body = replace(_body, 'Ada', 'Eve') ${ids}`,
    [of(2)],
  )
  await sql.query(`delete from deskwire.customers ${ids}`, [of(3)])
  const invented = await sql.query<{ id: string }>(
    `insert into deskwire.customers
       select (jsonb_populate_record(c, jsonb_build_object('id', overlay(id::text placing 'ffff' from 33)))).*
         from deskwire.customers c ${ids} returning id`,
    [of(4)],
  )
  return [...[0, 1, 2, 3].flatMap(of), ...invented.rows.map(({ id }) => id)]
}

/** A client that creates customers, and changes and deletes its own. */
function write(url: string, token: string): { stop(): Promise<number> } {
  const client = createClient({ baseUrl: `${url}/v1`, apiKey: token })
  let isStopped = false
  let changes = 0
  const writing = (async () => {
    while (!isStopped) {
      const { id } = await client.customers.create({ name: 'Grace' })
      await client.customers.update(id, { name: 'Hopper' })
      if (changes % 4 === 0) await client.customers.delete(id)
      changes += 2
      await delay(10)
    }
  })()
  return {
    async stop() {
      isStopped = true
      await writing
      return changes
    },
  }
}

interface Spent {
  calls: number
  bytes: number
  /** Of calls for the stream, which brings what writers do meanwhile. */
  streamed: number
}

const nothingSpent = (): Spent => ({ calls: 0, bytes: 0, streamed: 0 })

/** Counts calls, and uncompressed bytes of their responses. */
function counting(spent: Spent): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const body = await response.arrayBuffer()
    if (url.includes('/changes')) spent.streamed += body.byteLength
    else {
      spent.calls++
      spent.bytes += body.byteLength
    }
    return new Response(body, response)
  }
}
