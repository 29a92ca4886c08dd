/** What is said of a signature: never otherwise than the SDK judges, and the likely cause where none fits. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type Examination,
  examineSignature,
  headersOfText,
  type ReceivingRule,
  type SignatureScheme,
  signStandardWebhook,
  signWebhook,
} from '../src/index.ts'

const at = 1_769_851_800
const secret = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdmVjdG9ycywgbi4gMS4='
const text = '{"id":"e-1","type":"ticket.created","data":{"subject":"Zoë"}}'

const brokenRule: Readonly<Record<string, ReceivingRule>> = {
  missing_header: 'header',
  malformed_header: 'form',
  timestamp_expired: 'time',
  timestamp_in_future: 'time',
  signature_mismatch: 'signature',
}

interface Vector {
  readonly name: string
  readonly secrets: string[]
  readonly header?: string | null
  readonly headers?: Record<string, string>
  readonly body: string
  readonly now: number
  readonly tolerance: number
  readonly reason: string | null
}

const vectors = (['service', 'standard'] as const).flatMap((scheme) => {
  const file = scheme === 'service' ? 'signature' : 'standard-webhooks'
  const path = new URL(`../vectors/${file}.json`, import.meta.url)
  return (JSON.parse(readFileSync(path, 'utf8')) as Vector[]).map((vector) => ({ scheme, vector }))
})

test('the first rule that is broken is the reason of every vector', async () => {
  expect(vectors.length).toBeGreaterThan(100)
  const judged = await Promise.all(
    vectors.map(async ({ scheme, vector }) => {
      const { header, headers, body, secrets, now, tolerance } = vector
      const { reason, rules, verified } = await examineSignature(scheme, {
        headers: headers ?? (typeof header === 'string' ? { 'x-service-signature': header } : {}),
        body: new Uint8Array(Buffer.from(body, 'base64')),
        ...{ secrets, now, tolerance },
      })
      expect([vector.name, verified]).toEqual([vector.name, vector.reason === null])
      return [vector.name, reason, rules.find(({ holds }) => holds === false)?.rule]
    }),
  )
  expect(judged).toEqual(
    vectors.map(({ vector: { name, reason } }) => [name, reason, brokenRule[reason ?? '']]),
  )
})

/** What is found when this body arrives with the headers of another, or is verified with another secret. */
async function found(
  scheme: SignatureScheme,
  signed: { body?: string; secret?: string },
  got: { body?: string; secret?: string },
) {
  const body = signed.body ?? text
  const signing = signed.secret ?? secret
  const headers =
    scheme === 'service'
      ? { 'x-service-signature': await signWebhook(body, signing, { timestamp: at }) }
      : { ...(await signStandardWebhook('e-1', body, signing, { timestamp: at })) }
  return await examineSignature(scheme, {
    headers,
    body: new Uint8Array(Buffer.from(got.body ?? body)),
    secrets: [got.secret ?? secret],
    now: at,
    tolerance: 300,
  })
}

describe.each(['service', 'standard'] as const)('%s: why no signature fits', (scheme) => {
  test.each<[string, string, string, RegExp]>([
    ['a line break was added', text, `${text}\n`, /line break that was not signed/],
    ['a line break was lost', `${text}\n`, text, /--data-binary/],
    [
      'it was parsed and written again',
      text,
      JSON.stringify(JSON.parse(text), null, 2),
      /parsed and written again/,
    ],
    ['CR LF for LF', `${text}\n1\n2`, `${text}\r\n1\r\n2`, /end in CR LF/],
    ['LF for CR LF', `${text}\r\n1\r\n2`, `${text}\n1\n2`, /signed with CR LF/],
    ['a byte order mark', text, `\uFEFF${text}`, /byte order mark/],
  ])('%s', async (_, signed, got, cause) => {
    const { reason, cause: told } = await found(scheme, { body: signed }, { body: got })
    expect(reason).toBe('signature_mismatch')
    expect(told).toMatch(cause)
  })

  test('nothing is made up where no attempt explains it', async () => {
    const other = 'whsec_YW5vdGhlciBzZWNyZXQsIG9mIHRoaXJ0eS10d28gYnl0ZXM='
    expect(await found(scheme, {}, { secret: other })).toMatchObject({ verified: false, cause: null })
    expect(await found(scheme, {}, { body: text.replace('Zoë', 'Ada') })).toMatchObject({ cause: null })
    expect(await found(scheme, {}, {})).toMatchObject({ verified: true, reason: null, cause: null })
  })
})

test('a secret that is not the whole of it is named', async () => {
  const causes = async (got: string) => (await found('service', {}, { secret: got })).cause
  expect(await causes(` ${secret}\n`)).toMatch(/white space/)
  expect(await causes(secret.slice('whsec_'.length))).toMatch(/lacks its whsec_/)
  const decoded = Buffer.from(secret.slice('whsec_'.length), 'base64').toString()
  expect((await found('service', { secret: decoded }, {})).cause).toMatch(/key of Standard Webhooks/)
  expect((await found('service', { secret: secret.slice(6) }, {})).cause).toMatch(/without its whsec_/)
})

test('hex in upper case is named', async () => {
  const header = (await signWebhook(text, secret, { timestamp: at })).replace(/[a-f0-9]{64}/, (hex) =>
    hex.toUpperCase(),
  )
  const looked = await examineSignature('service', {
    headers: { 'x-service-signature': header },
    body: new Uint8Array(Buffer.from(text)),
    ...{ secrets: [secret], now: at, tolerance: 300 },
  })
  expect(looked.cause).toMatch(/upper case/)
})

test('a late delivery is told whether its signature fits', async () => {
  const late = async (body: string): Promise<Examination> =>
    await examineSignature('service', {
      headers: { 'x-service-signature': await signWebhook(text, secret, { timestamp: at - 412 }) },
      body: new Uint8Array(Buffer.from(body)),
      ...{ secrets: [secret], now: at, tolerance: 300 },
    })
  const rules = (await late(text)).rules
  expect(rules.map(({ rule, holds }) => [rule, holds])).toEqual([
    ['header', true],
    ['form', true],
    ['time', false],
    ['signature', true],
  ])
  expect(rules[2]?.seen).toBe('412 s ago')
  expect((await late(`${text}!`)).rules.map(({ holds }) => holds)).toEqual([true, true, false, false])
})

test('headers are read as curl prints them, as lines, and as JSON', () => {
  const read = { 'x-service-signature': 't=1,v1=ab', host: 'a:1' }
  expect(
    headersOfText('> POST /hook HTTP/1.1\r\n> Host: a:1\r\n> X-Service-Signature: t=1,v1=ab\r\n>\r\n'),
  ).toEqual(read)
  expect(headersOfText('X-Service-Signature:t=1,v1=ab\nHOST: a:1')).toEqual(read)
  expect(headersOfText('{"X-Service-Signature":["t=1","v1=ab"],"host":"a:1"}')).toEqual({
    ...read,
    'x-service-signature': 't=1, v1=ab',
  })
  expect(() => headersOfText('{"X-Service')).toThrow(SyntaxError)
})
