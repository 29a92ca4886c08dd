/** Text that no store can hold, in every place of a request where the document has text. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer } from '../../../testbed/desk.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
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

/** Bodies with `text` in each place, by its schema, where a text can be. */
function placesOf(document: Json, schema: Json, text: string): readonly Place[] {
  const one = resolved(document, schema)
  const within = (part: Json, name: string | number) =>
    placesOf(document, part, text).map(({ pointer, body }) => ({
      pointer: `/${name}${pointer}`,
      body: typeof name === 'number' ? [body] : { [name]: body },
    }))
  const choices = [...(one.anyOf ?? []), ...(one.oneOf ?? []), ...(one.allOf ?? [])]
  const { properties = {}, additionalProperties, items, type, enum: words, const: only } = one
  return [
    ...choices.flatMap((choice: Json) => placesOf(document, choice, text)),
    ...([type].flat().includes('string') && words === undefined && only === undefined
      ? [{ pointer: '', body: text }]
      : []),
    ...Object.entries(properties).flatMap(([name, part]) => within(part, name)),
    ...(typeof additionalProperties === 'object'
      ? [...within(additionalProperties, 'name'), { pointer: `/${text}`, body: { [text]: 'a' } }]
      : []),
    ...(items === undefined ? [] : within(items, 0)),
  ]
}

test.each(bad)('is refused in every text of every body: %j', async (text) => {
  const { api } = shared()
  const document = (await api.get('/openapi.json')).json
  const looked: string[] = []
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(operations)) {
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema === undefined || operation.security?.length === 0) continue
      const at = path.replaceAll(/\{\w+\}/g, id)
      const address = at.startsWith('/v1/') ? at : `/v1${at}`
      for (const { pointer, body } of placesOf(document, schema, text)) {
        const what = `${method} ${path} ${JSON.stringify(pointer)}`
        looked.push(what)
        const { status, json } = await (method === 'patch'
          ? api.patch(address, body)
          : api.post(address, body))
        // An item of a batch is refused by itself.
        const item = /^\/items\/0(.*)$/s.exec(pointer)?.[1]
        const errors = item === undefined ? json.errors : json.data?.[0].problem.errors
        expect({ what, status, errors }).toMatchObject({
          what,
          status: item === undefined ? 422 : 200,
          errors: [{ pointer: item ?? pointer, code: 'invalid_format' }],
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
  const webhook = await makeWebhook(api, { events: ['customer.created'] })
  await makeCustomer(api)
  const [delivery] = await deliveriesOf(api, webhook.id)
  const ids: Readonly<Record<string, string>> = { id: webhook.id, deliveryId: delivery?.id ?? '' }
  let looked = 0
  for (const [path, operations] of Object.entries<Json>(document.paths)) {
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? id)
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
