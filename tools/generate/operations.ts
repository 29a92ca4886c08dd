/** `packages/cli/src/resources/operations.ts`: a line for each call of the API, from which the command line makes its commands. */

type Json = Readonly<Record<string, unknown>>

/** Calls that have commands of their own, or are for programs alone. `deskwire api` makes them too. */
const left = /\w\/(batch|export|digests|exchange|self)$|^\/changes$|^\/webhooks\/\{id\}\/deliveries$/

/** Words of the API for which the command line has a better one. */
const words: Readonly<Record<string, string>> = { hasten: 'retry-now' }

/** Fields whose flags would be those that name the service. */
const flags: Readonly<Record<string, string>> = { url: 'endpoint' }

/** A flag of more values is explained by the reference, not by its help. */
const longestChoice = 10

/** The module, whose lines are `name, method, path, summary, query, body` with a tab between. */
export function operationsModule(document: Json): string {
  const paths = Object.entries(document.paths as Record<string, Record<string, Json>>)
  const lines = paths.flatMap(([path, operations]) => {
    const below = path.replace(/^\/v1/, '')
    if (below === path || left.test(below)) return []
    return ['get', 'post', 'patch', 'delete'].flatMap((method) => {
      const operation = operations[method]
      if (operation === undefined) return []
      const name = nameOf(method, below)
      const query = (operation.parameters as Json[]).filter((one) => one.in === 'query')
      const asked = query.map((one) => flagOf(String(one.name), one.schema as Json, false))
      return [
        [
          name,
          method.toUpperCase(),
          below,
          operation.summary,
          asked.join(' '),
          body(document, operation),
        ].join('\t'),
      ]
    })
  })
  // A resource's calls together, and the resources as the document has them.
  const order = lines.map(resourceOf)
  return `// Made by \`npm run generate\` from openapi.json.

/** name, method, path, summary, flags of the query, flags of the body. \`!\` is required, \`[]\` a list, \`#\` a number, \`?\` a switch, \`{}\` JSON. */
export const operationLines = \`
${lines.sort((a, b) => order.indexOf(resourceOf(a)) - order.indexOf(resourceOf(b))).join('\n')}
\`
`
}

function resourceOf(line: string): string {
  return line.slice(0, line.indexOf(' '))
}

/** `tickets list` for GET /tickets, `deliveries retry` for POST /webhooks/{id}/deliveries/{deliveryId}/retry. */
function nameOf(method: string, path: string): string {
  const segments = path.slice(1).split('/')
  const last = segments.at(-1) as string
  const names = segments.filter((one) => !one.startsWith('{'))
  const isOne = last.startsWith('{') || names.join() === 'organization'
  if (isOne) return `${names.at(-1)} ${{ get: 'get', patch: 'update', delete: 'delete' }[method]}`
  const isWhole = names.length === 1 || /\{[^}]*\}\/(recoveries|attempts)$/.test(path)
  if (isWhole && last === 'attempts') return 'deliveries attempts'
  if (last === 'stats') return names.length === 1 ? 'deliveries stats' : 'webhooks stats'
  if (isWhole) return `${last} ${method === 'get' ? 'list' : 'create'}`
  const verb = words[last] ?? last
  return `${names.at(-2)} ${method === 'delete' ? `delete-${verb}` : verb}`
}

function body(document: Json, operation: Json): string {
  const content = (operation.requestBody as Json | undefined)?.content as Json | undefined
  const schema = resolved(document, (content?.['application/json'] as Json | undefined)?.schema as Json)
  const required = (schema?.required as string[] | undefined) ?? []
  return Object.entries((schema?.properties as Record<string, Json>) ?? {})
    .map(([name, field]) => flagOf(name, resolved(document, field) ?? field, required.includes(name)))
    .join(' ')
}

function resolved(document: Json, schema: Json | undefined): Json | undefined {
  if (typeof schema?.$ref !== 'string') return schema
  return schema.$ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key] as Json, document)
}

/** `status=new|open`, `tags[]`, `customAttributes{}`, `number#`, `subject!`. */
function flagOf(name: string, schema: Json, required: boolean): string {
  const flag = flags[name] === undefined ? name : `${flags[name]}:${name}`
  const mark = required ? '!' : ''
  const types = [schema.type].flat()
  const values = (schema.enum as unknown[] | undefined)?.filter((one) => one !== null)
  if (values !== undefined && values.length <= longestChoice) return `${flag}${mark}=${values.join('|')}`
  if (types.includes('integer') || types.includes('number')) return `${flag}${mark}#`
  if (types.includes('boolean')) return `${flag}${mark}?`
  if (types.includes('array') && (schema.items as Json | undefined)?.type === 'string')
    return `${flag}${mark}[]`
  return types.includes('string') ? `${flag}${mark}` : `${flag}${mark}{}`
}
