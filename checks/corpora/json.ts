/**
 * JSONTestSuite: JSON that every parser must read, JSON that none may, and what the standard leaves open. It is read
 * exactly, or refused in words.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readJson } from '@deskwire/sdk/json'
import { SignatureError, signWebhook, verify } from '@deskwire/sdk/signature'
import { eventually } from '../../packages/testbed/eventually.ts'
import type { Answer } from '../../packages/testbed/service.ts'
import { type Desk, inWords, type Shown } from './desk.ts'
import { type Row, short, Tally } from './matrix.ts'

export interface JsonCase {
  /** Begins with y_, n_ or i_: must be read, must be refused, may be either. */
  readonly name: string
  readonly input: string | Uint8Array
}

/** What Deskwire refuses of valid JSON on purpose (specification 1.2). */
const refusedOnPurpose = /duplicated_key/

/**
 * Bytes that are not UTF-8, which a package of texts cannot hold: each within `["…"]`. Overlong forms, halves of pairs,
 * characters that are cut, and what is beyond Unicode.
 */
const notUtf8 = [
  'e5',
  'ff',
  'c080',
  'c0af',
  'e08080',
  'eda080',
  'edb080',
  'f4908080',
  'fc83bfbfbfbf',
  '80',
  'e282',
]

export async function jsonRow(
  parsing: readonly JsonCase[],
  transform: readonly JsonCase[],
  desk: Desk,
): Promise<Row> {
  const cases = [
    ...parsing,
    ...notUtf8.map((bytes) => ({
      name: `n_string_of_bytes_${bytes}`,
      input: Buffer.concat([Buffer.from('["'), Buffer.from(bytes, 'hex'), Buffer.from('"]')]),
    })),
  ]
  const hook = await desk.hooks.register(desk, 'json', ['customer.created'])
  const api = new Tally()
  for (const { name, input } of cases) {
    const answer = await desk.call('POST', '/v1/customers', input)
    api.count(name, faultOfBody(name, answer), answer.status !== 201)
  }
  const values = [...parsing, ...transform].flatMap(({ name, input }) => {
    const [, value] = /^\s*\[([^[\]{}]*)\]\s*$/s.exec(String(input)) ?? []
    return value === undefined || value.trim() === '' || name.startsWith('n_') ? [] : [{ name, value }]
  })
  const kept: { readonly name: string; readonly value: string; readonly id: string }[] = []
  for (const { name, value } of values) {
    const body = `{"name":"Ada","customAttributes":{"value":${value}}}`
    const answer = await desk.call('POST', '/v1/customers', body)
    if (answer.status !== 201) {
      api.count(name, inWords(answer) ? null : `${answer.status} ${answer.text}`, true)
      continue
    }
    const { text } = await desk.call('GET', `/v1/customers/${answer.json.id}`)
    const fault = differs(value, text)
    api.count(name, fault)
    if (fault === null) kept.push({ name, value, id: answer.json.id })
  }
  return {
    corpus: 'JSONTestSuite',
    cells: {
      API: api,
      query: 'A query has no JSON.',
      import: await lines(parsing, values, desk),
      mirror: await mirrors(kept, desk),
      webhook: await receives(cases, kept, hook, desk),
      MCP: await calls(cases, desk),
      SDK: reads(cases, transform),
      console: 'The console reads JSON by the SDK.',
    },
  }
}

function faultOfBody(name: string, answer: Answer): string | null {
  const said = `${answer.status} ${answer.text.slice(0, 300)}`
  if (answer.status !== 201 && !inWords(answer)) return said
  const isMalformed = answer.json.code === 'malformed_json'
  if (name.startsWith('y_') && isMalformed && !refusedOnPurpose.test(name)) return `it is JSON: ${said}`
  // An empty body is none.
  if (name.startsWith('n_') && !isMalformed && name !== 'n_structure_no_data.json')
    return `it is no JSON: ${said}`
  return null
}

/** Whether the text of a customer has another value than was written. */
function differs(written: string, text: string): string | null {
  const [, found = ''] = /"customAttributes":\{"value":((?:"(?:[^"\\]|\\.)*"|[^"}])*)\}/s.exec(text) ?? []
  const isNumber = /^[-\d]/.test(written.trim())
  // What is null is not stored.
  if (written.trim() === 'null') return found === '' ? null : `it is ${found}`
  const isSame = isNumber
    ? decimal(found) === decimal(written)
    : readOrNothing(found) === readOrNothing(written)
  return isSame ? null : `${short(written)} is ${short(found)}`
}

/** A number without regard to how it is written: its digits, and the power of ten of the last. */
function decimal(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^\s*(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?\s*$/.exec(text) ?? []
  const digits = `${whole}${part}`.replace(/^0+/, '')
  const last = digits.replace(/0+$/, '')
  if (last === '') return '0'
  return `${sign}${last}e${BigInt(power) - BigInt(part.length) + BigInt(digits.length - last.length)}`
}

function readOrNothing(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** Each as a line of a file, and each value in a line. */
async function lines(
  cases: readonly JsonCase[],
  values: readonly { readonly name: string; readonly value: string }[],
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  const path = join(desk.scratch, 'json.ndjson')
  const whole = cases.filter(({ input }) => !/[\n]/.test(String(input)) && String(input).trim() !== '')
  const id = (n: number) => `json ${n}`
  await writeFile(
    path,
    [
      ...whole.map(({ input }) => input),
      ...values.map(
        ({ value }, n) =>
          `{"externalId":"${id(n)}","customAttributes":{"value":${value.replaceAll(/[\r\n]/g, ' ')}}}`,
      ),
      '',
    ].join('\n'),
  )
  const { code, stdout, stderr } = await desk.run('import', path, '--kind', 'customers', '--json')
  if (code !== 3) {
    tally.count('json.ndjson', `exit code ${code}: ${stderr}${stdout}`)
    return tally
  }
  const rejected = new Map<string, string>()
  for (const line of (await readFile(JSON.parse(stdout).rejects, 'utf8')).split('\n')) {
    if (line === '') continue
    const { error, text, externalId } = readJson<Shown>(line)
    rejected.set(text ?? externalId ?? line, error)
  }
  for (const { name, input } of whole) {
    const error = rejected.get(String(input).trim()) ?? ''
    const isRefused = name.startsWith('n_') ? /not JSON/.test(error) : true
    tally.count(name, isRefused ? null : `it is no JSON: ${short(error)}`, error !== '')
  }
  const rows = new Map((await desk.rows('customers')).map((row) => [row.externalId, JSON.stringify(row)]))
  for (const [n, { name, value }] of values.entries()) {
    const row = rows.get(id(n))
    const error = rejected.get(id(n))
    if (row !== undefined) tally.count(name, differs(value, row))
    else tally.count(name, /\w{3}/.test(error ?? stderr) ? null : 'it is not there, without a word', true)
  }
  return tally
}

async function mirrors(
  kept: readonly { readonly name: string; readonly value: string; readonly id: string }[],
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  const directory = join(desk.scratch, 'json')
  const { code, stderr } = await desk.run('mirror', 'run', '--to', `ndjson:${directory}`)
  if (code !== 0) tally.count('mirror run', `exit code ${code}: ${stderr}`)
  const all = (await readFile(join(directory, 'customers.ndjson'), 'utf8')).split('\n')
  const rows = new Map(all.filter((line) => line !== '').map((line) => [readJson<Shown>(line).id, line]))
  for (const { name, value, id } of kept) tally.count(name, differs(value, rows.get(id) ?? ''))
  return tally
}

/** Each as the body of a signed delivery, and the deliveries of values. */
async function receives(
  cases: readonly JsonCase[],
  kept: readonly { readonly name: string; readonly value: string; readonly id: string }[],
  hook: { readonly name: string; readonly id: string; readonly secret: string },
  desk: Desk,
): Promise<Tally> {
  const tally = new Tally()
  for (const { name, input } of cases) {
    try {
      const signature = await signWebhook(input, hook.secret)
      await verify(input, { 'x-service-signature': signature }, hook.secret)
      tally.count(name, 'it is taken for an event')
    } catch (error) {
      const isRefused = error instanceof SignatureError && error.code === 'not_an_event'
      tally.count(name, isRefused ? null : String(error), true)
    }
  }
  const bodies = () =>
    new Map(desk.hooks.of(hook.name).map(({ body }) => [readJson<Shown>(String(body)).data.id, String(body)]))
  await eventually('all are delivered', async () => {
    const arrived = bodies()
    return kept.every(({ id }) => arrived.has(id))
  })
  for (const { name, value, id } of kept) tally.count(name, differs(value, bodies().get(id) ?? ''))
  await desk.call('DELETE', `/v1/webhooks/${hook.id}`)
  return tally
}

async function calls(cases: readonly JsonCase[], desk: Desk): Promise<Tally> {
  const tally = new Tally()
  for (const { name, input } of cases) {
    const answer = await desk.call('POST', '/mcp', input, { accept: 'application/json, text/event-stream' })
    const isRefused =
      answer.status >= 400 && answer.status < 500 && /"(message|detail)":"[^"]{8,}/.test(answer.text)
    tally.count(name, isRefused ? null : `${answer.status} ${answer.text.slice(0, 300)}`, true)
  }
  return tally
}

/** By its reader of JSON. */
function reads(cases: readonly JsonCase[], transform: readonly JsonCase[]): Tally {
  const tally = new Tally()
  for (const { name, input } of [...cases, ...transform]) {
    if (typeof input !== 'string') continue
    try {
      readJson(input)
      tally.count(name, name.startsWith('n_') ? 'it is no JSON, and is read' : null)
    } catch (error) {
      const isWrong = name.startsWith('y_') || !(error instanceof SyntaxError)
      tally.count(name, isWrong ? `it is JSON: ${error}` : null, true)
    }
  }
  return tally
}
