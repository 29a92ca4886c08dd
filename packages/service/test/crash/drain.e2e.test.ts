/** SIGTERM: what is under way finishes, what is idle does not hold it up, and the next process can start. */
import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type Installation, install } from '../../../testbed/installation.ts'

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

async function customers(installation: Installation): Promise<number> {
  const pool = await installation.connect()
  try {
    return (await pool.query('select c.id from customers c where c.removed_at is null')).rows.length
  } finally {
    await pool.end()
  }
}

test.concurrent('SIGTERM finishes what is in flight, is not held up by idle connections, and frees the data', async () => {
  await using installation = await install()
  const { token } = installation
  const service = await installation.start('holder')
  const agent = new Agent({ keepAlive: true })
  const idle = new Agent({ keepAlive: true })
  const pool = await installation.connect()
  try {
    expect((await send(idle, `${service.url}/v1/customers`, token).answer).status).toBe(200)

    // Twelve requests that cannot commit for now.
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query('select o.last_stamp from organization_clocks o for update')
    const inFlight = Array.from({ length: 12 }, (_, n) =>
      send(agent, `${service.url}/v1/customers`, token, { name: `c${n}` }),
    )
    await Promise.all(inFlight.map(({ begun }) => begun))
    const ended = service.end('SIGTERM')
    await eventually('nothing new is accepted', () => isRefused(service.url))
    expect(service.running()).toBe(true)
    await holder.query('commit')
    holder.release()
    await pool.end()

    const since = performance.now()
    expect((await Promise.all(inFlight.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(
      Array(12).fill(201),
    )
    expect((await ended).code).toBe(0)
    // Far below the limit: the connections that were kept alive have not been waited for.
    expect(performance.now() - since).toBeLessThan(5_000)

    const next = await installation.start('holder')
    expect(await customers(installation)).toBe(12)
    expect((await next.end('SIGTERM')).code).toBe(0)
  } finally {
    agent.destroy()
    idle.destroy()
    await (pool.ended ? null : pool.end())
  }
})

test.concurrent('SIGTERM finishes what has begun for clients that have gone, and lets go of the database then', async () => {
  await using installation = await install()
  const { token } = installation
  const service = await installation.start('holder')
  const pool = await installation.connect()
  try {
    const holder = await pool.connect()
    await holder.query('begin')
    await holder.query('select o.last_stamp from organization_clocks o for update')
    const agent = new Agent({ keepAlive: true })
    const asked = Array.from({ length: 12 }, (_, n) =>
      send(agent, `${service.url}/v1/api-keys`, token, { name: `key ${n}`, scopes: ['customers:read'] }),
    )
    const gone = asked.map(({ answer }) => expect(answer).rejects.toThrow())
    await Promise.all(asked.map(({ begun }) => begun))
    await eventually('one of them waits for the clock', async () => {
      const { rows } = await pool.query(
        `select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    agent.destroy()
    await Promise.all(gone)
    const ended = service.end('SIGTERM')
    await eventually('nothing new is accepted', () => isRefused(service.url))
    await holder.query('commit')
    holder.release()
    await pool.end()
    expect((await ended).code).toBe(0)
    expect(service.output.all).not.toMatch(/a request failed|after calling end/)
  } finally {
    await (pool.ended ? null : pool.end())
  }
})

test.concurrent('a second process on the same data is refused with a line that says who has it', async () => {
  await using installation = await install()
  const service = await installation.start('holder')
  await expect(installation.start('holder')).rejects.toThrow(
    new RegExp(`deskwire: .* is in use by process ${service.pid} `),
  )
  expect((await service.end('SIGTERM')).code).toBe(0)
})

test.concurrent('SIGTERM does not wait for maintenance that cannot go on', async () => {
  await using installation = await install()
  await installation.start('holder', 'api')
  const pool = await installation.connect()
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table erasures in access exclusive mode')
    const { rows: begun } = await pool.query('select clock_timestamp()::text as at')
    const api = await installation.start('beside', 'api')
    await eventually('its maintenance waits', async () => {
      const { rows } = await pool.query(
        `select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'
           and a.query like '%from erasures%' and a.backend_start > $1`,
        [begun[0].at],
      )
      return rows.length === 1
    })
    const since = performance.now()
    expect((await api.end('SIGTERM')).code).toBe(0)
    expect(performance.now() - since).toBeLessThan(15_000)
    expect(api.output.all).not.toContain('maintenance failed')
  } finally {
    holder.release(true)
    await pool.end()
  }
})
