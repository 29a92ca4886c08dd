/** The commands of the API's resources: one implementation, which the lines of `operations.ts` tell what to do. */
import type { Client } from '@deskwire/sdk'
import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { outputFlags, outputHelp, readOutput, type Shown, show } from '../output.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { addFields, type Fields, fieldHelp, flagValue, readData } from './input.ts'
import { type Flag, kebab, type Operation, wordsOf } from './operation.ts'

/** The command that makes this call. */
export function resourceCommand(operation: Operation): Command {
  const { name, method, path, query, body } = operation
  const words = wordsOf(operation)
  const own = [...query, ...body]
  const takesBody = body.length > 0
  const isList = query.some(({ name }) => name === 'limit')
  return {
    help: () => help(operation, words),
    async run(args) {
      const switches = own.filter(({ type }) => type === 'switch').map((flag) => flag.name)
      const texts = own.filter(({ type }) => type !== 'switch').map((flag) => flag.name)
      const given = parseFlags(args, {
        texts: [...texts, ...(takesBody ? ['data'] : []), ...outputFlags, ...clientFlags],
        switches: [...switches, ...(isList ? ['all'] : []), 'json'],
        lists: (takesBody ? { field: 'f' } : {}) as { field: string },
        words: words.length,
      })
      const missing = words[given.words.length]
      if (missing !== undefined) throw new UsageError(`${name} needs ${missing}: see deskwire ${name} --help`)
      const all: Record<string, string | undefined> = given.texts
      const shown = readOutput(all, given.switches, 'table')
      const sent: Fields = all.data === undefined ? {} : await readData(all.data)
      addFields(sent, given.lists.field ?? [])
      Object.assign(sent, valuesOf(body, all, given.switches))
      // What is missing where --data or --field could have it is the service's to say.
      const parameters = valuesOf(query, all, given.switches)
      const client = clientOf(requireTarget(name, all))
      if (given.switches.all) return await showAll(allRows(client, operation, given.words, parameters), shown)
      const search = new URLSearchParams(parameters as Record<string, string>)
      let n = 0
      const address = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(given.words[n++] ?? ''))
      const response = await client.request(method, `${address}${search.size === 0 ? '' : `?${search}`}`, {
        ...(takesBody && { body: sent }),
      })
      if (response !== undefined) show(response, shown, isList)
      else if (shown.format === 'table') printOut('done\n')
    },
  }
}

/** What says which page, and so means nothing of all rows. */
const ofPages = ['limit', 'offset', 'after', 'afterSince', 'cursor', 'updatedAfter', 'wait', 'ids']

/** The rows of the list that the SDK has under the same name. @throws UsageError */
function allRows(
  client: Client,
  { name }: Operation,
  words: readonly string[],
  parameters: Fields,
): AsyncIterable<object> {
  const given = ofPages.find((one) => parameters[one] !== undefined)
  if (given !== undefined) throw new UsageError(`${name}: --all and --${kebab(given)} do not go together`)
  const [resource = '', method = ''] = name
    .split(' ')
    .map((word) => word.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
  type List = (...given: unknown[]) => AsyncIterable<object>
  const calls = client[resource as 'webhooks'] as unknown as Readonly<Record<string, List>>
  return (calls[method] as List)(...words, parameters)
}

async function showAll(rows: AsyncIterable<object>, shown: Shown): Promise<void> {
  const data: object[] = []
  for await (const row of rows) {
    if (shown.format === 'ndjson') show(row, shown)
    else data.push(row)
  }
  if (shown.format !== 'ndjson') show({ data }, shown)
}

function valuesOf(
  flags: readonly Flag[],
  texts: Readonly<Record<string, string | undefined>>,
  switches: Readonly<Record<string, boolean | undefined>>,
): Fields {
  const entries = flags.flatMap((flag) => {
    if (flag.type === 'switch') {
      const value = switches[flag.name]
      return value === undefined ? [] : [[flag.field, value] as const]
    }
    const text = texts[flag.name]
    return text === undefined ? [] : [[flag.field, flagValue(flag, text)] as const]
  })
  return Object.fromEntries(entries)
}

function help({ name, method, path, summary, query, body }: Operation, words: readonly string[]): string {
  const usage = ['deskwire', name, ...words].join(' ')
  const flags = [...query, ...body].map(({ name, field, required, type, values }) =>
    `  ${`--${name}${{ text: ' TEXT', list: ' TEXT,…', number: ' N', json: ' JSON', switch: '' }[type]}`.padEnd(22)} ${[
      ...(required ? ['required'] : []),
      ...(kebab(field) === name ? [] : [`the field ${field}: --${kebab(field)} is the service`]),
      ...(values === null ? [] : [values.join(', ')]),
    ].join('; ')}`.trimEnd(),
  )
  if (query.some(({ name }) => name === 'limit'))
    flags.push('  --all                  every row, not one page of them')
  const shown = body
    .filter(({ required }) => required)
    .map(({ name, type, values }) => ` --${name} ${values?.[0] ?? (type === 'json' ? "'{…}'" : '…')}`)
    .join('')
  return `${usage}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}.

${flags.length === 0 ? '' : `${flags.join('\n')}\n`}${body.length === 0 ? '' : fieldHelp}${outputHelp}${clientHelp}
${method} ${path.startsWith('/..') ? path.slice(3) : `/v1${path}`}; the reference of the API at the service's /docs says what each field means.

Example:
  ${['deskwire', name, ...words.map(() => '01980000-0000-7000-8000-000000000001')].join(' ')}${shown}
`
}
