/** `packages/cli/src/resources/operations.ts`: a line for each call of the API, from which the command line makes its commands. */

import { type ClientMethod, kebab, resourcesOf } from './clients.ts'
import { type ApiDocument, type Json, nameOf, type Operation } from './python-models.ts'

/** Calls that have commands of their own, or are for programs alone. `deskwire api` makes them too. */
const left = new Set(['batch', 'export', 'digests', 'exchange', 'sync'])

/** Fields whose flags would be those that name the service. */
const flags: Readonly<Record<string, string>> = { url: 'endpoint' }

/** A flag of more values is explained by the reference, not by its help. */
const longestChoice = 10

/** The module, whose lines are `name, method, path, summary, query, body` with a tab between. */
export function operationsModule(document: ApiDocument): string {
  const lines = resourcesOf(document).flatMap(({ isAdmin, methods }) =>
    // Commands of the operator work next to the database.
    (isAdmin ? [] : methods).filter(({ name }) => !left.has(name)).map((method) => lineOf(document, method)),
  )
  return `// Made by \`npm run generate\` from openapi.json.

/** name, method, path, summary, flags of the query, flags of the body. \`!\` is required, \`[]\` a list, \`#\` a number, \`?\` a switch, \`{}\` JSON. */
export const operationLines = \`
${lines.join('\n')}
\`
`
}

function lineOf(document: ApiDocument, { resource, name, verb, path, operation }: ClientMethod): string {
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.name !== 'session')
  return [
    `${kebab(resource)} ${kebab(name)}`,
    verb.toUpperCase(),
    path,
    operation.summary,
    query.map((one) => flagOf(one.name, one.schema, false)).join(' '),
    body(document, operation),
  ].join('\t')
}

function body(document: ApiDocument, { requestBody }: Operation): string {
  const schema = resolved(document, requestBody?.content['application/json']?.schema)
  const required = (schema?.required as string[] | undefined) ?? []
  return Object.entries((schema?.properties as Record<string, Json>) ?? {})
    .map(([name, field]) => flagOf(name, resolved(document, field) ?? field, required.includes(name)))
    .join(' ')
}

function resolved({ components }: ApiDocument, schema: Json | undefined): Json | undefined {
  return schema?.$ref === undefined ? schema : components.schemas[nameOf(schema.$ref)]
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
