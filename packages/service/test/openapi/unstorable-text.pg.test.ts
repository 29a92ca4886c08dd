/** Text that no store can hold, in every place of a request where the document has text. */
import { expect, test } from 'vitest'
import { makeConversation } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { resolved } from './arbitrary.ts'

const shared = sharedService({ rateLimit: { perSecond: 100_000, burst: 100_000 } })

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
type Json = any

const id = '01980000-0000-7000-8000-000000000001'
const bad = ['a\0', '\ud83e', '\udd89a']

/** A body with one text, at this pointer. */
interface Place {
  readonly pointer: string
  readonly body: unknown
}

/** Bodies with `text` in each place, by its schema, where a text can be; `words`: also where one of some words must be. */
function placesOf(document: Json, schema: Json, text: string, words = false): readonly Place[] {
  const one = resolved(document, schema)
  const within = (part: Json, name: string | number) =>
    placesOf(document, part, text, words).map(({ pointer, body }) => ({
      pointer: `/${name}${pointer}`,
      body: typeof name === 'number' ? [body] : { [name]: body },
    }))
  const choices = [...(one.anyOf ?? []), ...(one.oneOf ?? []), ...(one.allOf ?? [])]
  const { properties = {}, additionalProperties, items, type, enum: choice, const: only } = one
  return [
    ...choices.flatMap((choice: Json) => placesOf(document, choice, text, words)),
    ...([type].flat().includes('string') && (words || (choice === undefined && only === undefined))
      ? [{ pointer: '', body: text }]
      : []),
    ...Object.entries(properties).flatMap(([name, part]) => within(part, name)),
    ...(typeof additionalProperties === 'object'
      ? [...within(additionalProperties, 'name'), { pointer: `/${text}`, body: { [text]: 'a' } }]
      : []),
    ...(items === undefined ? [] : within(items, 0)),
  ]
}

interface Answered {
  readonly pointer: string
  readonly status: number
  readonly errors: Json
  readonly text: string
}

/** The answers to bodies with one text each; a batch has all its items in one body, as each is decided by itself. */
async function answersTo(
  method: string,
  address: string,
  places: readonly Place[],
): Promise<readonly Answered[]> {
  const { api } = shared()
  const send = (body: unknown) => (method === 'patch' ? api.patch(address, body) : api.post(address, body))
  const unique = [...new Map(places.map((place) => [place.pointer, place])).values()]
  const inItem = /^\/items\/0(?=\/)/
  const items = unique.filter(({ pointer }) => inItem.test(pointer))
  const answers: Answered[] = []
  for (const { pointer, body } of unique) {
    if (inItem.test(pointer)) continue
    const { status, json, text } = await send(body)
    answers.push({ pointer, status, errors: json.errors, text })
  }
  if (items.length === 0) return answers
  const { json, text } = await send({ items: items.flatMap(({ body }) => (body as Json).items) })
  const ofItems = items.map(({ pointer }, n) => {
    const { status, problem } = json.data?.[n] ?? { status: 500 }
    return { pointer: pointer.replace(inItem, ''), status, errors: problem?.errors, text }
  })
  return [...answers, ...ofItems]
}

test.each(bad)('is refused in every text of every body: %j', async (text) => {
  const document = (await shared().api.get('/openapi.json')).json
  const looked: string[] = []
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(operations)) {
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema === undefined || operation.security?.length === 0) continue
      const at = path.replaceAll(/\{\w+\}/g, id)
      const address = at.startsWith('/v1/') ? at : `/v1${at}`
      for (const { pointer, status, errors } of await answersTo(
        method,
        address,
        placesOf(document, schema, text),
      )) {
        const what = `${method} ${path} ${JSON.stringify(pointer)}`
        looked.push(what)
        expect({ what, status, errors }).toMatchObject({
          what,
          status: 422,
          errors: [{ pointer, code: 'invalid_format' }],
        })
      }
    }
  }
  expect(looked.length).toBeGreaterThan(100)
  expect(looked).toContain('post /v1/messages "/attachments/0/url"')
})

const undecodable = (name: string) =>
  `${name} cannot be decoded: it must be UTF-8 in percent-encoding, with % itself written %25.`

test('is refused in every parameter of every query', async () => {
  const { api } = shared()
  const document = (await api.get('/openapi.json')).json
  let looked = 0
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    const address = path.replaceAll(/\{\w+\}/g, id)
    for (const parameter of operations.get?.parameters ?? []) {
      const { in: place, name } = resolved(document, parameter)
      if (place !== 'query' || !path.startsWith('/v1/')) continue
      looked++
      for (const text of ['a%00', 'a%FF', '%E9', '%ED%A0%80', '%zz', '50%']) {
        const { status, json } = await api.get(`${address}?${name}=${text}`)
        const what = `${path} ${name} ${text}`
        expect([what, status]).toEqual([what, 400])
        if (text !== 'a%00')
          expect([json.code, json.detail]).toEqual(['invalid_parameter', undecodable(name)])
      }
    }
  }
  expect(looked).toBeGreaterThan(30)
})

test('is refused in the link of an attachment that is right otherwise', async () => {
  const api = await shared().newOrganization()
  const conversationId = (await makeConversation(api)).id
  const attachment = { fileName: 'a', contentType: 'text/plain', sizeBytes: 1 }
  for (const text of bad) {
    const attachments = [{ ...attachment, url: `https://example.com/${text}` }]
    const message = { conversationId, direction: 'outbound', author: { type: 'ai' }, body: 'a', attachments }
    const { status, json } = await api.post('/v1/messages', message)
    expect([status, json.errors?.[0]?.pointer]).toEqual([422, '/attachments/0/url'])
  }
})

test('a name that every object has is a name like any other, and no parameter of any call', async () => {
  const name = '__proto__'
  const { api } = shared()
  const document = (await api.get('/openapi.json')).json
  const wrong: string[] = []
  let looked = 0
  const look = (what: string, isExpected: boolean, { status, text }: { status: number; text: string }) => {
    looked++
    if (!isExpected) wrong.push(`${what}: ${status} ${text.slice(0, 200)}`)
  }
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(operations)) {
      if (operation.security?.length === 0 || !path.startsWith('/v1/')) continue
      const send = (address: string, body?: unknown) =>
        method === 'get'
          ? api.get(address)
          : method === 'patch'
            ? api.patch(address, body)
            : method === 'delete'
              ? api.delete(address)
              : api.post(address, body)
      const named = path.replaceAll(/\{\w+\}/g, name)
      if (named !== path && method !== 'delete') {
        const answer = await send(named, {})
        look(`${method} ${named}`, [400, 404, 422].includes(answer.status), answer)
      }
      const address = path.replaceAll(/\{\w+\}/g, id)
      const answer = await send(`${address}?${name}=1`, {})
      const isRefused = answer.json?.detail?.startsWith(`There is no parameter ${name} here; accepted: `)
      look(`${method} ${path}?${name}`, answer.status === 400 && isRefused, answer)
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema === undefined) continue
      const unknown = await send(address, `{"${name}":1}`)
      const isNamed = unknown.json.errors?.[0].pointer === `/${name}` || unknown.status === 404
      look(`${method} ${path} {${name}}`, isNamed, unknown)
      for (const answer of await answersTo(method, address, placesOf(document, schema, name, true)))
        look(`${method} ${path} ${answer.pointer}`, answer.status < 500, answer)
    }
  }
  for (const [op, value] of Object.entries({
    equals: '"x"',
    in: '["x"]',
    exists: 'true',
    changed: undefined,
  })) {
    const condition = `{"field":"${name}","op":"${op}"${value === undefined ? '' : `,"value":${value}`}}`
    const endpoint = `{"url":"https://example.com","events":["ticket.created"],"conditions":[${condition}]}`
    const answer = await api.post('/v1/webhooks', endpoint)
    look(`condition ${op}`, answer.json.errors?.[0].pointer === '/conditions/0/field', answer)
  }
  for (const [path, field, within] of [
    ['bookings', 'location', `{"type":"video","value":"x","${name}":1}`],
    ['messages', 'author', `{"type":"ai","${name}":1}`],
    ['webhooks', 'conditions', `[{"field":"id","op":"changed","${name}":1}]`],
  ]) {
    const answer = await api.post(`/v1/${path}`, `{"${field}":${within}}`)
    const found = answer.json.errors.find(({ pointer }: { pointer: string }) =>
      pointer.startsWith(`/${field}`),
    )
    look(`${path} ${field}`, found?.code === 'unknown_field', answer)
  }
  expect(wrong).toEqual([])
  expect(looked).toBeGreaterThan(300)
})
