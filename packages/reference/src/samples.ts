/**
 * A call as a program makes it, in curl, TypeScript with the SDK, and Python with nothing installed. The address of
 * the API, `/v1` included, and the key come from the environment: `DESKWIRE_URL` and `DESKWIRE_API_KEY`. Values are
 * the declaration's examples; a reader replaces the ids.
 */
import { exampleId, type Json, schemaName } from '../../service/src/openapi/api-module.ts'
import { exampleOf, type Reference, type ShownOperation } from './reference.ts'

interface Sample {
  readonly language: Language
  readonly code: string
}

/** Titles of the tabs, in their order. */
export const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const
export type Language = keyof typeof languages

/** One in each language. */
export function samplesOf(operation: ShownOperation, reference: Reference): readonly Sample[] {
  const call = callOf(operation, reference)
  return [
    { language: 'curl', code: curl(call) },
    { language: 'typescript', code: typeScript(call) },
    { language: 'python', code: python(call) },
  ]
}

interface ExampleCall {
  readonly operation: ShownOperation
  /** Below the API's address; other addresses from the root. */
  readonly path: string
  readonly isBeside: boolean
  readonly query: string
  /** Undefined: none. */
  readonly body: unknown
  readonly mediaType: string | null
}

const version = '/v1'

function callOf(operation: ShownOperation, { schemas }: Reference): ExampleCall {
  const { path, body, answers } = operation
  const isBeside = !path.startsWith(`${version}/`)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleValue(operation, name))
  return {
    operation,
    path: isBeside ? filled : filled.slice(version.length),
    isBeside,
    query: queryOf(operation),
    body: body === null ? undefined : exampleOf({ $ref: `#/components/schemas/${body.schema}` }, schemas)[0],
    mediaType: answers[0]?.content[0]?.mediaType ?? null,
  }
}

/** Other ids in paths, as in the examples of responses. */
const idsInPaths: Readonly<Record<string, string>> = {
  id: exampleId(3),
  deliveryId: exampleId(6),
  recoveryId: exampleId(7),
}

export function exampleValue({ parameters }: ShownOperation, name: string): string {
  const { schema } = parameters.find((one) => one.name === name && one.in === 'path') ?? {}
  const [example] = (schema?.examples ?? []) as readonly string[]
  return example ?? idsInPaths[name] ?? exampleId(3)
}

/** The first call of a list or stream; otherwise the required parameters. */
function queryOf({ parameters }: ShownOperation): string {
  const named = parameters.filter((one) => one.in === 'query')
  const asked = named.filter(({ name, required }) => required || name === 'limit' || name === 'parts')
  const watermark = named.find(({ name }) => name === 'updatedAfter')
  if (watermark !== undefined && !named.some(({ name }) => name === 'offset')) {
    return `updatedAfter=${(watermark.schema.examples as readonly string[])[0]}`
  }
  return asked.map(({ name, schema }) => `${name}=${firstOf(schema)}`).join('&')
}

function firstOf({
  default: initial,
  examples,
  enum: words,
  minimum,
}: ShownOperation['parameters'][0]['schema']): string {
  const [first] = [initial, ...((examples ?? words ?? []) as readonly unknown[]), minimum, 1].filter(
    (value) => value !== undefined,
  )
  return String(first)
}

function curl({ operation, path, isBeside, query, body }: ExampleCall): string {
  const { method, access } = operation
  const isImplied = method === 'get' || (method === 'post' && body !== undefined)
  const address = `"${isBeside ? `\${DESKWIRE_URL%${version}}` : '$DESKWIRE_URL'}${path}${query === '' ? '' : `?${query}`}"`
  return [
    `curl ${isImplied ? '' : `-X ${method.toUpperCase()} `}${address}`,
    ...(access === 'public' ? [] : ['-H "Authorization: Bearer $DESKWIRE_API_KEY"']),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''").replaceAll('\n', '\n  ')}'`,
        ]),
  ].join(' \\\n  ')
}

function python({ operation, path, isBeside, query, body, mediaType }: ExampleCall): string {
  const { method, access } = operation
  const address = `${path}${query === '' ? '' : `?${query}`}`
  const headers = {
    ...(access === 'public' ? {} : { Authorization: 'Bearer' }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  }
  const isBare = method === 'get' && Object.keys(headers).length === 0
  const isJson = mediaType === 'application/json'
  const isLines = mediaType === 'application/x-ndjson'
  const base = isBeside
    ? `os.environ["DESKWIRE_URL"].removesuffix("${version}")`
    : 'os.environ["DESKWIRE_URL"]'
  const imports = [...(isJson || isLines || body !== undefined ? ['json'] : []), 'os', 'urllib.request']
  return `import ${imports.join(', ')}

request = urllib.request.Request(
    ${base} + "${address}",
${isBare ? '' : `    method="${method.toUpperCase()}",\n`}${
  Object.keys(headers).length === 0
    ? ''
    : `    headers={${Object.entries(headers)
        .map(
          ([name, value]) =>
            `"${name}": ${name === 'Authorization' ? '"Bearer " + os.environ["DESKWIRE_API_KEY"]' : `"${value}"`}`,
        )
        .join(', ')}},\n`
}${body === undefined ? '' : `    data=json.dumps(${literal(body, 'python', 1)}).encode(),\n`})
with urllib.request.urlopen(request) as answer:
${
  isLines
    ? '    for line in answer:\n        print(json.loads(line))'
    : `    print(${isJson ? 'json.load(answer)' : mediaType === null ? 'answer.status' : 'answer.read().decode()'})`
}
`
}

function typeScript(call: ExampleCall): string {
  if (call.isBeside) {
    const isJson = call.mediaType === 'application/json'
    return `const answer = await fetch(new URL('${call.path}', process.env.DESKWIRE_URL))
console.log(await answer.${isJson ? 'json' : 'text'}())
`
  }
  const made = clientCall(call)
  if (made === null) return throughFetch(call)
  return `import { createClient } from '@deskwire/sdk'

const client = createClient() // reads DESKWIRE_URL and DESKWIRE_API_KEY

${made}`
}

/** Without the SDK, where it has no method. */
function throughFetch({ operation, path, query, body, mediaType }: ExampleCall): string {
  const address = `\`\${process.env.DESKWIRE_URL}${path}${query === '' ? '' : `?${query}`}\``
  const bodyLine = body === undefined ? '' : `\n  body: JSON.stringify(${literal(body, 'typescript', 1)}),`
  const type = body === undefined ? '' : ", 'content-type': 'application/json'"
  return `const answer = await fetch(${address}, {
  method: '${operation.method.toUpperCase()}',
  headers: { authorization: \`Bearer \${process.env.DESKWIRE_API_KEY}\`${type} },${bodyLine}
})
console.log(${mediaType === 'application/json' ? 'await answer.json()' : 'answer.status'})
`
}

/** Null where the SDK has no method. */
function clientCall({ operation, body, query }: ExampleCall): string | null {
  const { client, method, parameters, answers } = operation
  if (client === null) return null
  const [resource = '', name = ''] = client.split('.')
  const ids = parameters
    .filter((one) => one.in === 'path')
    .map((one) => literal(exampleValue(operation, one.name), 'typescript', 0))
  const asked = query === '' ? undefined : numbersOf(Object.fromEntries(new URLSearchParams(query)))
  const takes = (value: unknown) => {
    const all = [...ids, ...(value === undefined ? [] : [literal(value, 'typescript', 0)])]
    // Two ids are wider than a column of code.
    return ids.length > 1 ? `\n${all.map((one) => `  ${one},\n`).join('')}` : all.join(', ')
  }
  if (name === 'sync') return walked(resource)
  if (name === 'batch') return shown('answer', client, takes((body as { items: unknown }).items))
  const [content] = answers[0]?.content ?? []
  if (content?.mediaType === 'application/x-ndjson') {
    return `for await (const change of client.${client}()) {
  console.log(change)
}
`
  }
  return shown(resultOf(content?.schema, method), client, takes(body ?? asked))
}

/** A name for what a call returns; empty for nothing. */
function resultOf(schema: Json | undefined, method: ShownOperation['method']): string {
  if (schema === undefined) return ''
  const name = schemaName(((schema.anyOf as Json[] | undefined) ?? [schema])[0] as Json)
  if (name?.endsWith('Page')) return 'page'
  if (name?.endsWith('WithSecret')) return '{ secret }'
  if (name?.endsWith('WithToken')) return method === 'post' ? '{ token }' : 'key'
  return name === null ? 'answer' : `${name[0]?.toLowerCase()}${name.slice(1)}`
}

function shown(result: string, method: string, args: string): string {
  const call = `await client.${method}(${args})${result === 'page' ? '.page()' : ''}`
  if (result === '') return `${call}\n`
  return `const ${result} = ${call}\nconsole.log(${result.replace(/[{} ]/g, '')})\n`
}

function walked(of: string): string {
  return `for await (const page of client.${of}.sync()) {
  for (const change of page.changes) console.log(change)
  // Keep it: the next sync begins here.
  console.log(page.cursor)
}
`
}

function numbersOf(values: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  )
}

/** JSON as a literal, on one line where it is short. */
function literal(value: unknown, language: 'typescript' | 'python', depth: number): string {
  const isPython = language === 'python'
  const indent = isPython ? '    ' : '  '
  if (typeof value === 'string') return isPython ? JSON.stringify(value) : quoted(value)
  if (value === null) return isPython ? 'None' : 'null'
  if (typeof value === 'boolean' && isPython) return value ? 'True' : 'False'
  if (typeof value !== 'object') return String(value)
  const isList = Array.isArray(value)
  const key = (name: string) => (isPython ? `${JSON.stringify(name)}: ` : `${propertyName(name)}: `)
  const inner = Object.entries(value).map(
    ([name, one]) => `${isList ? '' : key(name)}${literal(one, language, depth + 1)}`,
  )
  const [open, close] = isList ? '[]' : '{}'
  const space = isList || isPython || inner.length === 0 ? '' : ' '
  const line = `${open}${space}${inner.join(', ')}${space}${close}`
  if (line.length <= 60 && !line.includes('\n')) return line
  const pad = indent.repeat(depth + 1)
  return `${open}\n${inner.map((one) => `${pad}${one},\n`).join('')}${indent.repeat(depth)}${close}`
}

function quoted(text: string): string {
  return text.includes("'")
    ? JSON.stringify(text)
    : `'${text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}
