import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { errorCatalogue } from '../../src/kernel/error-catalogue.ts'
import { makeCustomer, makeTeammate, makeTicket } from '../harness/desk.ts'
import { rawRequest } from '../harness/raw-request.ts'
import type { Answer } from '../harness/service.ts'
import { sharedService } from '../harness/shared-service.ts'

const shared = sharedService()
const unknown = '01980000-0000-7000-8000-000000000000'

/** A problem answer has this shape, whatever is wrong. */
function expectProblem(answer: Answer, code: keyof typeof errorCatalogue): void {
  const { status, title } = errorCatalogue[code]
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(answer.json).toMatchObject({ type: `/docs/errors/${code}`, title, status, code })
  expect(answer.json.detail).toMatch(/\S/)
  expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'))
  expect(answer.status).toBe(status)
}

describe('every refusal is a problem', () => {
  test('400 malformed_json for what is not JSON in UTF-8', async () => {
    const { api, url } = shared()
    const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
    for (const body of [
      '{',
      '{"name":"a",}',
      "{'name':'a'}",
      '{"name":"a"} x',
      'NaN',
      Buffer.from('{"name":"\xff"}', 'latin1'),
    ]) {
      expectProblem(await rawRequest(`${url}/v1/customers`, 'POST', headers, body), 'malformed_json')
    }
  })

  test('400 for an address that cannot be decoded', async () => {
    const { api, url } = shared()
    for (const path of ['/v1/customers/%', '/v1/customers/%zz', '/%ff']) {
      const answer = await rawRequest(url + path, 'GET', { authorization: `Bearer ${api.token}` })
      expectProblem(answer, 'invalid_parameter')
    }
  })

  test('404 for a path that is not there, however long', async () => {
    const { api } = shared()
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/customer',
      '/customers',
      '/v2/customers',
      `/v1/customers/${unknown}/x`,
    ]) {
      expectProblem(await api.get(path), 'not_found')
    }
    expectProblem(await api.get(`/v1/customers/${'x'.repeat(1000)}`), 'not_found')
    expectProblem(await api.patch(`/v1/customers/${'x'.repeat(1000)}`, {}), 'not_found')
    // Whatever the body is.
    for (const body of ['{}', '{', 'x'.repeat(2_000_000)]) {
      expectProblem(await api.post('/v1/nothing', body), 'not_found')
      expectProblem(await api.post('/v1/nothing', body, { 'content-type': 'text/plain' }), 'not_found')
    }
  })

  test('413 for a body of more than 1 MiB; 1 MiB is read', async () => {
    const { api } = shared()
    const body = (size: number) => JSON.stringify({ name: 'x' }).padEnd(size, ' ')
    expect((await api.post('/v1/customers', body(1024 * 1024))).status).toBe(201)
    expectProblem(await api.post('/v1/customers', body(1024 * 1024 + 1)), 'body_too_large')
  })

  test('413 arrives while the body is still being sent, and its connection stays', async () => {
    const { api, url } = shared()
    const { hostname, port } = new URL(url)
    const size = 8 * 1024 * 1024
    const call = (length: number) =>
      `POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    const socket = connect(Number(port), hostname)
    try {
      let answers = ''
      socket.setEncoding('utf8').on('data', (text: string) => {
        answers += text
      })
      socket.write(call(size))
      await vi.waitFor(() => expect(answers).toContain('413 Payload Too Large'))
      // As a proxy does that reads the answer when everything is sent.
      await new Promise((resolve, reject) => {
        socket.once('error', reject).write(Buffer.alloc(size, ' '), resolve)
      })
      socket.write(`${call(12)}{"name":"x"}`)
      await vi.waitFor(() => expect(answers).toContain('201 Created'))
    } finally {
      socket.destroy()
    }
  })

  test('415 for a body that is not called JSON', async () => {
    const { api, url } = shared()
    const authorization = `Bearer ${api.token}`
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'json', '']) {
      expectProblem(
        await rawRequest(
          `${url}/v1/customers`,
          'POST',
          { authorization, 'content-type': type },
          '{"name":"a"}',
        ),
        'unsupported_media_type',
      )
    }
    expectProblem(
      await rawRequest(`${url}/v1/customers`, 'POST', { authorization }, '{"name":"a"}'),
      'unsupported_media_type',
    )
  })

  test('422 for a body that is missing', async () => {
    const { api, url } = shared()
    const authorization = `Bearer ${api.token}`
    expectProblem(await rawRequest(`${url}/v1/customers`, 'POST', { authorization }), 'validation_failed')
    const headers = { authorization, 'content-type': 'application/json' }
    expectProblem(await rawRequest(`${url}/v1/customers`, 'POST', headers), 'validation_failed')
  })

  test('422 names every wrong field with pointer, code and detail', async () => {
    const { api } = shared()
    const answer = await api.post('/v1/customers', { name: 1, 'a/b': 2 })
    expectProblem(answer, 'validation_failed')
    expect(answer.json.errors).toEqual([
      { pointer: '/name', code: 'invalid_type', detail: expect.stringContaining('255') },
      { pointer: '/a~1b', code: 'unknown_field', detail: expect.stringContaining('accepted: name, company') },
    ])
  })
})

describe('405', () => {
  const cases = [
    ['/v1/customers', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    [`/v1/customers/${unknown}`, 'DELETE, GET, HEAD, PATCH', ['POST', 'PUT', 'OPTIONS']],
    ['/v1/tickets', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE']],
    [`/v1/tickets/${unknown}`, 'DELETE, GET, HEAD, PATCH', ['POST', 'PUT']],
    ['/v1/teammates', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE']],
    [`/v1/teammates/${unknown}`, 'GET, HEAD, PATCH', ['POST', 'PUT', 'DELETE']],
    ['/healthz', 'GET, HEAD', ['POST', 'DELETE']],
  ] as const

  test.each(cases)(
    '%s allows %s and says so to any other method, body or not',
    async (path, allow, methods) => {
      const { api, url } = shared()
      for (const method of methods) {
        for (const body of ['', 'not json']) {
          const answer = await rawRequest(url + path, method, { authorization: `Bearer ${api.token}` }, body)
          expectProblem(answer, 'method_not_allowed')
          expect(answer.headers.get('allow')).toBe(allow)
        }
      }
    },
  )
})

describe('a method that is rarely seen', () => {
  test.each(METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'POST'].includes(method)))(
    '%s is 405 where something is, 404 where nothing is, and never our mistake',
    async (method) => {
      const { api, url, logged } = shared()
      const headers = { authorization: `Bearer ${api.token}` }
      expectProblem(await rawRequest(`${url}/v1/customers`, method, headers), 'method_not_allowed')
      expectProblem(await rawRequest(`${url}/nowhere`, method, headers), 'not_found')
      expect(logged.filter(({ level }) => level === 'error')).toEqual([])
    },
  )
})

describe('X-Request-Id', () => {
  test('is echoed when it is up to 200 visible ASCII characters', async () => {
    const { api } = shared()
    for (const id of ['a', '!~', 'x'.repeat(200)]) {
      for (const answer of [
        await api.get('/v1/customers', { 'x-request-id': id }),
        await api.get('/nowhere', { 'x-request-id': id }),
        await api.delete('/v1/customers', { 'x-request-id': id }),
        await api.post('/v1/customers', '{', { 'x-request-id': id }),
      ]) {
        expect(answer.headers.get('x-request-id')).toBe(id)
      }
    }
  })

  test('is made when it is not sent, too long, empty or has other characters', async () => {
    const { api } = shared()
    const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
    const ids = []
    for (const sent of [
      {},
      { 'x-request-id': 'x'.repeat(201) },
      { 'x-request-id': '' },
      { 'x-request-id': 'a b' },
      { 'x-request-id': 'é' },
    ]) {
      const answer = await api.get('/v1/customers', sent)
      expect(answer.headers.get('x-request-id')).toMatch(made)
      ids.push(answer.headers.get('x-request-id'))
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is on answers without a body too', async () => {
    const { api } = shared()
    const { id, updatedAt } = await makeCustomer(api)
    const held = await api.get(`/v1/customers/${id}`, {
      'if-none-match': `"${updatedAt}"`,
      'x-request-id': 'a',
    })
    const gone = await api.delete(`/v1/customers/${id}`, { 'x-request-id': 'b' })
    expect([held.headers.get('x-request-id'), gone.headers.get('x-request-id')]).toEqual(['a', 'b'])
  })
})

describe('clients that send more than they need', () => {
  test('a content type may name a character set, and an absent body may have a content type', async () => {
    const { api, url } = shared()
    const authorization = `Bearer ${api.token}`
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json ;charset=UTF-8',
      'application/merge-patch+json',
    ]) {
      const headers = { authorization, 'content-type': type }
      expect((await rawRequest(`${url}/v1/customers`, 'POST', headers, '{"name":"a"}')).status).toBe(201)
    }
    const { id } = await makeCustomer(api)
    const headers = { authorization, 'content-type': 'application/json' }
    expect((await rawRequest(`${url}/v1/customers/${id}`, 'GET', headers)).status).toBe(200)
    expect((await rawRequest(`${url}/v1/customers/${id}`, 'DELETE', headers)).status).toBe(204)
  })

  test('HEAD answers as GET does, without the body', async () => {
    const { api, url } = shared()
    const headers = { authorization: `Bearer ${api.token}` }
    for (const path of [
      `/v1/tickets/${(await makeTicket(api)).id}`,
      `/v1/teammates/${(await makeTeammate(api)).id}`,
    ]) {
      const [head, get] = [await rawRequest(url + path, 'HEAD', headers), await api.get(path)]
      expect([head.status, head.text]).toEqual([200, ''])
      expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    }
  })
})
