import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { rawRequest } from '../../../testbed/raw-request.ts'
import type { Answer } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { errorCatalogue, type FieldError } from '../../src/kernel/error-catalogue.ts'

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
    for (const path of ['/v1/customers/%', '/v1/customers/%zz', '/%ff', '/v1/customers/%ED%A0%80', '/?%ff']) {
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

  test('404 names the address that was meant', async () => {
    const { api } = shared()
    const detailOf = async (path: string) => (await api.get(path)).json.detail as string
    for (const [wrong, meant] of [
      ['/customers', '/v1/customers'],
      [`/tickets/${unknown}?x=1`, `/v1/tickets/${unknown}`],
      ['/v2/customers', '/v1/customers'],
      ['/api/customers', '/v1/customers'],
      ['/api/v1/customers', '/v1/customers'],
      ['/v1/v1/customers', '/v1/customers'],
      ['/V1/customers', '/v1/customers'],
      ['/v1/Customers/', '/v1/customers'],
      [`/v1/customers/${unknown}/`, `/v1/customers/${unknown}`],
      [`/v1/customers%2F${unknown}`, `/v1/customers/${unknown}`],
      ['/v1/changes/', '/v1/changes'],
      ['/v1/openapi.json', '/openapi.json'],
      ['/healthz/', '/healthz'],
    ] as const) {
      const answer = await api.get(wrong)
      expectProblem(answer, 'not_found')
      expect(answer.json.detail).toBe(`There is no ${wrong.split('?')[0]}. Did you mean ${meant}?`)
    }
    expect(await detailOf('/v1/nothing')).toBe(
      'There is no /v1/nothing. See /openapi.json for what there is.',
    )
    for (const wrong of ['/v1//customers', '//v1/customers', '/v1/tickets//close'])
      expect(await detailOf(wrong)).toMatch(/A part between two slashes is empty: fill it in/)
  })

  test('a path is matched as it is written, so that a proxy can close it', async () => {
    const { url, api } = shared()
    const { id } = await makeCustomer(api)
    const statusOf = async (path: string) =>
      (await rawRequest(url + path, 'GET', { authorization: `Bearer ${api.token}` })).status
    const spellings = ['/%6detrics', '/%6Detrics', '/METRICS', '/metrics/', '/metrics;x', '/metrics%3Fx']
    const others = ['//metrics', '/metrics%23', '/metrics.', '/v1/%63ustomers']
    for (const path of [...spellings, ...others]) expect([path, await statusOf(path)]).toEqual([path, 404])
    const escapedId = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    for (const path of ['/metrics', '/metrics?x=%6d', `/v1/customers/${escapedId}`])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    expect((await api.get('/v1/%63ustomers')).json.detail).toBe(
      'There is no /v1/%63ustomers: write the fixed parts of /v1/customers without escapes.',
    )
  })

  test('404 names the id that a path lacks, at every route that takes one', async () => {
    const { api } = shared()
    const document = (await api.get('/openapi.json')).json
    const paths = Object.keys(document.paths).filter((path) => /^\/v1\/.*\{/.test(path))
    expect(paths.length).toBeGreaterThan(20)
    for (const whole of paths) {
      const path = whole.replace(/\{\w+\}/, '').replaceAll(/\{\w+\}/g, unknown)
      for (const method of ['get', 'delete', 'post', 'patch'] as const) {
        if (document.paths[whole]?.[method] === undefined) continue
        const answer = await (method === 'get' || method === 'delete'
          ? api[method](path)
          : api[method](path, {}))
        expectProblem(answer, 'not_found')
        const [, name] = /\{(\w+)\}/.exec(whole) as unknown as [string, string]
        expect(answer.json.detail).toContain(`There is no ${path}: it lacks the ${name} of ${whole}.`)
      }
    }
    expect((await api.get('/v1/customers/?limit=1')).json.detail).toBe(
      'There is no /v1/customers/: it lacks the id of /v1/customers/{id}. Without the slash at the end, /v1/customers allows GET, HEAD, POST.',
    )
    const created = await api.post('/v1/customers/', { name: 'Ada' })
    expectProblem(created, 'method_not_allowed')
    expect(created.json.detail).toMatch(
      / Without the slash at the end, \/v1\/customers allows GET, HEAD, POST\.$/,
    )
    for (const id of ['xyz', '%2F', `${unknown}%20`, `%20${unknown}`])
      expect((await api.get(`/v1/customers/${id}`)).json.detail).toMatch(/: an id is a UUID, for example/)
    expect((await api.get(`/v1/customers/${unknown}`)).json.detail).toBe(
      `There is no customer ${unknown}. It may have been removed; check the id.`,
    )
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
      await vi.waitFor(() => expect(answers).toContain('413 Payload Too Large'), { timeout: 30_000 })
      // As a proxy does that reads the answer when everything is sent.
      await new Promise((resolve, reject) => {
        socket.once('error', reject).write(Buffer.alloc(size, ' '), resolve)
      })
      socket.write(`${call(12)}{"name":"x"}`)
      await vi.waitFor(() => expect(answers).toContain('201 Created'), { timeout: 30_000 })
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

  test('415 for a body that says it is compressed or not UTF-8, at every door, and names the header', async () => {
    const { api, url } = shared()
    const json = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
    const typed = (type: string) => ({ ...json, 'content-type': type })
    const refused: [Record<string, string>, RegExp][] = [
      ...['gzip', 'br', 'GZIP', 'gzip, identity', 'identity, gzip', 'x', '*'].map(
        (coding): [Record<string, string>, RegExp] => [
          { ...json, 'content-encoding': coding },
          /without Content-Encoding, uncompressed; got "/,
        ],
      ),
      ...['utf-16', '"UTF-16LE"', 'iso-8859-1', 'utf-80'].map((name): [Record<string, string>, RegExp] => [
        typed(`application/json;charset=${name}`),
        /in UTF-8, with Content-Type: application\/json; got the charset "/,
      ]),
    ]
    const body = '{"name":"a"}'
    for (const path of ['/v1/customers', '/v1/customers/batch', '/v1/console-links/exchange'])
      for (const [headers, detail] of refused)
        for (const bytes of [body, gzipSync(body)]) {
          const answer = await rawRequest(url + path, 'POST', headers, bytes)
          expectProblem(answer, 'unsupported_media_type')
          expect(answer.json.detail).toMatch(detail)
        }
    for (const headers of [
      { ...json, 'content-encoding': 'Identity' },
      ...['utf-8', 'UTF-8', '"utf-8"', 'utf8'].map((name) => typed(`application/json; charset=${name}`)),
      typed('application/json;profile="a;charset=utf-16"'),
      typed('application/vnd.api+json; Charset=utf-8; v=1'),
    ])
      expect([headers, (await rawRequest(`${url}/v1/customers`, 'POST', headers, body)).status]).toEqual([
        headers,
        201,
      ])
  })

  test('422 for a body that is missing', async () => {
    const { api, url } = shared()
    const authorization = `Bearer ${api.token}`
    expectProblem(await rawRequest(`${url}/v1/customers`, 'POST', { authorization }), 'validation_failed')
    const headers = { authorization, 'content-type': 'application/json' }
    expectProblem(await rawRequest(`${url}/v1/customers`, 'POST', headers), 'validation_failed')
  })

  test('422 for a number that cannot be kept exactly, in the same words wherever it is sent', async () => {
    const { api } = shared()
    const { id } = (await api.post('/v1/customers', { name: 'Ada' })).json
    const item = (number: string) => `{"name":"a","customAttributes":{"n":${number}}}`
    for (const [number, become] of [
      ['9007199254740993', '9007199254740992'],
      ['1e400', 'Infinity'],
      ['-1E-400', '0'],
      ['0.12345678901234567890', '0.12345678901234568'],
    ] as const) {
      const detail = `must be a number that a double (IEEE 754) holds, or a string where one is accepted: ${number} would become ${become}`
      const fault = (pointer: string) => [{ pointer, code: 'invalid_value', detail }]
      for (const refused of [
        await api.post('/v1/customers', item(number)),
        await api.patch(`/v1/customers/${id}`, item(number)),
      ]) {
        expectProblem(refused, 'validation_failed')
        expect(refused.json.errors).toEqual(fault('/customAttributes/n'))
      }
      const condition = `{"conditions":[{"field":"number","op":"equals","value":${number}}]}`
      expect((await api.post('/v1/webhooks', condition)).json.errors).toEqual(fault('/conditions/0/value'))
      for (const operation of ['create', 'upsert', 'import']) {
        const body = `{"operation":"${operation}","items":[${item('1')},${item(number)}]}`
        const { json } = await api.post('/v1/customers/batch', body)
        expect(json.data[1].problem.errors).toEqual(fault('/customAttributes/n'))
      }
    }
    expect((await api.post('/v1/customers', item('1e21'))).json.customAttributes).toEqual({ n: 1e21 })
  })

  test('422 says what is accepted at the place that is wrong, and what was sent there', async () => {
    const { api } = shared()
    const faultsOf = async (path: string, body: unknown) =>
      Object.fromEntries(
        (await api.post(path, body)).json.errors.map(({ pointer, detail }: FieldError) => [pointer, detail]),
      )
    const attribute =
      'must be a string of at most 500 characters, a number or a boolean, under a name of 1 to 40 characters (null deletes it)'
    expect(
      await faultsOf('/v1/customers', {
        name: 7,
        customAttributes: { plan: { seats: 3 }, parts: [1], ['x'.repeat(41)]: 1 },
        tags: ['vip', 1, ''],
      }),
    ).toEqual({
      '/name': 'must be a string of at most 255 characters (no U+0000); got a number',
      '/customAttributes/plan': `${attribute}; got an object`,
      '/customAttributes/parts': `${attribute}; got a list`,
      [`/customAttributes/${'x'.repeat(41)}`]: attribute,
      '/tags/1': 'must be a string of 1 to 50 characters; got a number',
      '/tags/2': 'must be a string of 1 to 50 characters',
    })
    expect(await faultsOf('/v1/bookings', { location: { type: 'x', value: 1, room: 2 } })).toMatchObject({
      '/location/type': 'must be one of in_person, phone, video, other',
      '/location/value': 'must be a string of 1 to 2000 characters; got a number',
      '/location': expect.stringMatching(/^has no field "room"; must be an object \{type, value\}/),
    })
    expect(
      await faultsOf('/v1/messages', {
        author: { type: 'x', id: 'q', name: 1 },
        attachments: [{ fileName: '', contentType: 'x', sizeBytes: -1, url: 'ftp://x' }, 1, {}],
      }),
    ).toMatchObject({
      '/author/type': 'must be one of customer, teammate, ai, system',
      '/author/id': 'must be the id (a UUID) of a teammate, or left out',
      '/author/name': 'must be a string of 1 to 255 characters, or left out; got a number',
      '/attachments/0/fileName': 'must be a string of 1 to 255 characters',
      '/attachments/0/contentType': 'must be a media type, for example image/png',
      '/attachments/0/sizeBytes': 'must be a whole number from 0 up',
      '/attachments/0/url': 'must be an http or https link of at most 2048 characters',
      '/attachments/1': 'must be an object {fileName, contentType, sizeBytes, url}; got a number',
      '/attachments/2/fileName': 'must be a string of 1 to 255 characters; got nothing',
    })
    expect((await api.post('/v1/customers', [])).json.detail).toBe(
      'The body must be a JSON object; got a list.',
    )
    expect((await api.post('/v1/customers', '')).json.detail).toBe(
      'The body must be a JSON object; got nothing.',
    )
  })

  test('400 for a limit of none says that a larger one than 100 is served', async () => {
    const { api } = shared()
    for (const path of [
      '/v1/customers?',
      '/v1/changes?updatedAfter=1970-01-01T00:00:00Z&',
      '/v1/webhooks?',
    ]) {
      for (const wrong of ['0', '-1', 'many', '1.5', '']) {
        expect((await api.get(`${path}limit=${wrong}`)).json.detail).toBe(
          `limit must be a whole number from 1 up (above 100 is served as 100); got "${wrong}".`,
        )
      }
      expect((await api.get(`${path}limit=1000`)).json.pagination.limit).toBe(100)
    }
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
    [`/v1/teammates/${unknown}`, 'DELETE, GET, HEAD, PATCH', ['POST', 'PUT']],
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
