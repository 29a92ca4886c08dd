/** The console's types of the API, generated from openapi.json by openapi-typescript. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// The console's: it needs a TypeScript compiler that the rest of the repository does not have.
const ofConsole = createRequire(new URL('../../packages/console/package.json', import.meta.url))
const generator = pathToFileURL(ofConsole.resolve('openapi-typescript')).href.replace('.cjs', '.mjs')

interface Operation {
  responses: Record<string, { content?: object }>
  parameters?: { in?: string; $ref?: string }[]
}

/** The operations below /v1, without their descriptions. */
export async function consoleTypes(document: object): Promise<string> {
  const { openapi, info, paths, components } = structuredClone(document) as {
    openapi: string
    info: object
    paths: Record<string, Record<string, Operation>>
    components: { schemas: object; parameters?: object }
  }
  const called = Object.entries(paths).filter(([path]) => path.startsWith('/v1/'))
  for (const operation of called.flatMap(([, item]) => Object.values(item))) {
    const answers = Object.entries(operation.responses).filter(([status]) => status < '3')
    operation.responses = {
      ...Object.fromEntries(answers.map(([status, { content }]) => [status, { description: '', content }])),
      default: {
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    } as Operation['responses']
  }
  const { default: openapiTS, astToString } = await import(generator)
  const { schemas, parameters = {} } = components
  const shown = { openapi, info, paths: Object.fromEntries(called), components: { schemas, parameters } }
  const text: string = astToString(await openapiTS(withoutWords(shown)))
  const lines = text
    .replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
    .split('\n')
    .filter((line) => !/^\s+\w+\??: never;$/.test(line))
  return `/** Generated from openapi.json by \`npm run generate\`. */\n${lines.join('\n')}`
}

function withoutWords<T>(value: T): T {
  // A property may have such a name as well: then its value is not a text.
  const texts = new Set(['description', 'summary'])
  const words = new Set(['examples', 'example', 'x-scope', 'x-events', 'x-examples'])
  return JSON.parse(
    JSON.stringify(value, (name, part) =>
      words.has(name) || (texts.has(name) && typeof part === 'string' && part !== '') ? undefined : part,
    ),
  )
}
