/** Names of custom attributes that JSON writes with escapes, from several organizations in one process. */
import { expect, test } from 'vitest'
import { rawRequest } from '../../../testbed/raw-request.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

/** Sends the text as it is written here. */
async function send(api: Api, method: string, path: string, body: string) {
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
  return rawRequest(shared().url + path, method, headers, body)
}

/** What poisons, and what is written after it with another name in mind. */
const cases = [
  ['\\\\', '\\u00e9', 'é'],
  ['\\\\', '\\n', '\n'],
  ['\\\\', '\\"', '"'],
  ['a\\\\', 'a\\"', 'a"'],
] as const

test.each(cases)('after one organization wrote %s, another one keeps %s', async (poison, written, name) => {
  const [one, other] = [await shared().newOrganization(), await shared().newOrganization()]
  const first = `first${name.codePointAt(0)}`
  const made = await send(
    one,
    'POST',
    '/v1/customers',
    `{"name":"a","customAttributes":{"${first}":1,"${poison}":2}}`,
  )
  expect(made.status).toBe(201)

  const attributes = { [first]: 1, [name]: 2 }
  const created = await send(
    other,
    'POST',
    '/v1/customers',
    `{"name":"a","customAttributes":{"${first}":1,"${written}":2}}`,
  )
  expect(created.json).toMatchObject({ customAttributes: attributes })

  const changed = await send(other, 'PATCH', `/v1/customers/${created.json.id}`, '{"name":"Ada"}')
  expect(changed.json).toMatchObject({ name: 'Ada', customAttributes: attributes })

  const item = `{"name":"a","customAttributes":{"${first}":1,"${poison}":3,"${written}":2}}`
  const batch = await send(other, 'POST', '/v1/customers/batch', `{"items":[${item},${item}]}`)
  expect(batch.status).toBe(200)
  const plain = poison.replace('\\\\', '\\')
  for (const { id } of batch.json.data as readonly { id: string }[])
    expect((await other.get(`/v1/customers/${id}`)).text).toContain(
      JSON.stringify({ [first]: 1, [plain]: 3, [name]: 2 }),
    )
})
