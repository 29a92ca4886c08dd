/** SIGTERM: what is under way finishes, what is idle does not hold it up, and the next process can start. */
import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { type Installation, install } from '../../../testbed/installation.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

interface Answer {
  readonly status: number
  readonly text: string
}

/**
 * A request over a connection that stays open afterwards, as proxies and pools keep them. With a body it is a POST
 * that waits for `100 Continue`: `begun` says that the service has it in hand.
 */
function send(
  agent: Agent,
  url: string,
  token: string,
  body?: object,
): { readonly begun: Promise<unknown>; readonly answer: Promise<Answer> } {
  const sent = request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json', expect: '100-continue' }),
    },
  })
  const begun = new Promise((resolve) => sent.once('continue', resolve))
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text })).on('error', reject)
    })
  })
  if (body === undefined) sent.end()
  else {
    sent.flushHeaders()
    void begun.then(() => sent.end(JSON.stringify(body)))
  }
  return { begun, answer }
}

async function isRefused(url: string): Promise<boolean> {
  const agent = new Agent()
  return send(agent, `${url}/healthz`, '').answer.then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )
}

/** Holds the organization's clock, for which every commit waits, until it is released; both end with the pool. */
async function holdClock(installation: Installation) {
  const pool = await installation.connect()
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select o.last_stamp from organization_clocks o for update')
  return {
    pool,
    async release() {
      await holder.query('commit')
      holder.release()
      await pool.end()
    },
    async [Symbol.asyncDispose]() {
      if (pool.ended) return
      holder.release(true)
      await pool.end()
    },
  }
}

test.concurrent('SIGTERM finishes what is in flight, also for clients that have gone, is not held up by idle connections, and frees the data', async () => {
  await using installation = await install()
  const { token } = installation
  const service = await installation.start('holder')
  await expect(installation.start('holder')).rejects.toThrow(
    new RegExp(`deskwire: .* is in use by process ${service.pid} `),
  )
  const agent = new Agent({ keepAlive: true })
  const idle = new Agent({ keepAlive: true })
  try {
    expect((await send(idle, `${service.url}/v1/customers`, token).answer).status).toBe(200)

    // Twelve requests that cannot commit for now.
    await using clock = await holdClock(installation)
    const inFlight = Array.from({ length: 12 }, (_, n) =>
      send(agent, `${service.url}/v1/customers`, token, { name: `c${n}` }),
    )
    await Promise.all(inFlight.map(({ begun }) => begun))
    const ended = service.end('SIGTERM')
    await eventually('nothing new is accepted', () => isRefused(service.url))
    expect(service.running()).toBe(true)
    await clock.release()

    const since = performance.now()
    expect((await Promise.all(inFlight.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(
      Array(12).fill(201),
    )
    expect((await ended).code).toBe(0)
    // Far below the limit: the connections that were kept alive have not been waited for.
    expect(performance.now() - since).toBeLessThan(5_000)
  } finally {
    agent.destroy()
    idle.destroy()
  }

  const next = await installation.start('holder')
  await using clock = await holdClock(installation)
  const { rows: customers } = await clock.pool.query(
    'select c.id from customers c where c.removed_at is null',
  )
  expect(customers).toHaveLength(12)
  const leaving = new Agent({ keepAlive: true })
  const asked = Array.from({ length: 12 }, (_, n) =>
    send(leaving, `${next.url}/v1/api-keys`, token, { name: `key ${n}`, scopes: ['customers:read'] }),
  )
  const gone = asked.map(({ answer }) => expect(answer).rejects.toThrow())
  await Promise.all(asked.map(({ begun }) => begun))
  await eventually('one of them waits for the clock', async () => {
    const { rows } = await clock.pool.query(
      `select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  leaving.destroy()
  await Promise.all(gone)
  const ended = next.end('SIGTERM')
  await eventually('nothing new is accepted', () => isRefused(next.url))
  await clock.release()
  expect((await ended).code).toBe(0)
  expect(next.output.all).not.toMatch(/a request failed|after calling end/)
})

test.concurrent('SIGTERM does not wait for maintenance that cannot go on', async () => {
  await using database = await testDatabase()
  await using services = createServices()
  const { pool, connection } = database
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table erasures in access exclusive mode')
    const api = await services.serve(['--role', 'api', '--database-url', socketUrl(connection)], {
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
    await eventually('its maintenance waits', async () => {
      const { rows } = await pool.query(
        `select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'
           and a.query like '%from erasures%'`,
      )
      return rows.length === 1
    })
    const since = performance.now()
    expect((await api.end('SIGTERM')).code).toBe(0)
    expect(performance.now() - since).toBeLessThan(15_000)
    expect(api.output.all).not.toContain('maintenance failed')
  } finally {
    holder.release(true)
  }
})
