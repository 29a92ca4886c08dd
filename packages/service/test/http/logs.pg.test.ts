import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'

const secrets = ['xanthippe', 'hush-hush', 'ops@example.com', '+4930123456', 'searched-for']

test('the log never holds tokens, bodies, emails or queries, whatever is asked', async () => {
  await using service = await testService()
  const { api } = service
  const body = { name: 'Xanthippe', email: 'ops@example.com', phone: '+4930123456', tags: ['hush-hush'] }
  const created = await api.post('/v1/customers', body, { 'idempotency-key': 'hush-hush 1' })
  expect(created.status).toBe(201)
  const path = `/v1/customers/${created.json.id}`
  const answers = [
    await api.post('/v1/customers', body),
    await api.post('/v1/customers', { ...body, nonsense: 'hush-hush' }),
    await api.post('/v1/customers', '{"name":"hush-hush", broken'),
    await api.patch(path, { company: 'hush-hush' }, { 'if-match': '"hush-hush"' }),
    await api.patch(path, { company: 'hush-hush' }),
    await api.get(`/v1/customers?email=ops@example.com&q=searched-for&tag=hush-hush`),
    await api.get(`/v1/customers?searched-for=1`),
    await api.get(`/v1/customers?cursor=hush-hush`),
    await api.get(`/nowhere?email=ops@example.com`),
    await api.get(`/v1/customers/%zz?email=ops@example.com`),
    await api.delete(`/v1/customers?email=ops@example.com`),
    await service.withToken('dwk_hush-hush').get('/v1/customers'),
    await service.withToken(`${api.token.slice(0, -1)}_`).get('/v1/customers'),
    await api.post('/v1/customers', JSON.stringify({ name: 'hush-hush'.repeat(200_000) })),
    await api.delete(path),
  ]
  expect(answers.map(({ status }) => status)).toEqual([
    409, 422, 400, 412, 200, 200, 400, 400, 404, 400, 405, 401, 401, 413, 204,
  ])
  expect(service.logged.length).toBeGreaterThanOrEqual(answers.length)
  expectDiscreet(service.logged, [...secrets, api.token.slice(4, 34)])
})

test('neither does it when the database refuses a row and repeats it in its message', async () => {
  await using service = await testService()
  const { api } = service
  const { customerId } = await makeTicket(api)
  await service.database.pool.query(`alter table customers add check (email <> 'ops@example.com')`)
  const refused = [
    await api.post('/v1/customers', { name: 'Xanthippe', email: 'ops@example.com' }),
    await api.patch(`/v1/customers/${customerId}`, { name: 'Xanthippe', email: 'ops@example.com' }),
  ]
  for (const answer of refused) {
    expect([answer.status, answer.json.code]).toEqual([500, 'internal_error'])
    expect(answer.text).not.toContain('ops@example.com')
  }
  // Enough to find the cause is there: which request, what kind of error and where.
  const errors = service.logged.filter(({ level }) => level === 'error')
  expect(errors.map(({ requestId }) => requestId)).toEqual(refused.map(({ json }) => json.requestId))
  expect(JSON.stringify(errors)).toContain('23514')
  expect(JSON.stringify(errors)).toContain('customers_email_check')
  expectDiscreet(service.logged, secrets)
})

test('a client that goes before all of its body came is no failure of the service', async () => {
  await using service = await testService()
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const head = ['POST /v1/customers HTTP/1.1', 'Host: x', `Authorization: Bearer ${service.api.token}`]
  const more = ['Content-Type: application/json', 'Content-Length: 100000', '', '{"name":']
  socket.write([...head, ...more].join('\r\n'))
  const bytes = () => service.app.register.getSingleMetricAsString('deskwire_http_memory_bytes')
  await eventually('the body is being read', async () => / 100000$/m.test(await bytes()))
  socket.destroy()
  await once(socket, 'close')
  await eventually('it is given up', async () => / 0$/m.test(await bytes()))
  expect(service.logged.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([])
})

test('a line names its level, and has the time in ISO 8601 to the millisecond', async () => {
  await using service = await testService()
  await service.api.get('/v1/customers')
  expect(service.logged.find(({ msg }) => msg === 'answered')).toMatchObject({
    level: 'debug',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
})

function expectDiscreet(lines: readonly object[], words: readonly string[]): void {
  for (const line of lines) {
    const text = JSON.stringify(line).toLowerCase()
    for (const word of words) expect(text).not.toContain(word.toLowerCase())
  }
}
