/** The commands of the API's resources: one implementation, which the lines of `operations.ts` tell what to do. */
import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../commands.ts'
import { parseFlags } from '../flags.ts'
import { outputFlags, outputHelp, readOutput, show } from '../output.ts'
import { printOut } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { addFields, type Fields, fieldHelp, flagValue, readData } from './input.ts'
import { type Flag, type Operation, wordsOf } from './operation.ts'

/** The command that makes this call. */
export function resourceCommand(operation: Operation): Command {
  const { name, method, path, query, body } = operation
  const words = wordsOf(operation)
  const own = [...query, ...body]
  const takesBody = body.length > 0
  return {
    help: () => help(operation, words),
    async run(args) {
      const switches = own.filter(({ type }) => type === 'switch').map((flag) => flag.name)
      const texts = own.filter(({ type }) => type !== 'switch').map((flag) => flag.name)
      const given = parseFlags(args, {
        texts: [...texts, ...(takesBody ? ['data'] : []), ...outputFlags, ...clientFlags],
        switches: [...switches, 'json'],
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
      const asked = new URLSearchParams(valuesOf(query, all, given.switches) as Record<string, string>)
      const client = clientOf(requireTarget(name, all))
      let n = 0
      const address = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(given.words[n++] ?? ''))
      const response = await client.request(method, `${address}${asked.size === 0 ? '' : `?${asked}`}`, {
        ...(takesBody && { body: sent }),
      })
      if (response !== undefined) show(response, shown)
      else if (shown.format === 'table') printOut('done\n')
    },
  }
}

function valuesOf(
  flags: readonly Flag[],
  texts: Readonly<Record<string, string | undefined>>,
  switches: Readonly<Record<string, boolean | undefined>>,
): Fields {
  const entries = flags.flatMap((flag) => {
    if (flag.type === 'switch') return switches[flag.name] === true ? [[flag.field, true] as const] : []
    const text = texts[flag.name]
    return text === undefined ? [] : [[flag.field, flagValue(flag, text)] as const]
  })
  return Object.fromEntries(entries)
}

function help({ name, method, path, summary, query, body }: Operation, words: readonly string[]): string {
  const usage = ['deskwire', name, ...words].join(' ')
  const flags = [...query, ...body].map(({ name, required, type, values }) =>
    `  ${`--${name}${{ text: ' TEXT', list: ' TEXT,…', number: ' N', json: ' JSON', switch: '' }[type]}`.padEnd(22)} ${[
      ...(required ? ['required'] : []),
      ...(values === null ? [] : [values.join(', ')]),
    ].join('; ')}`.trimEnd(),
  )
  const shown = body
    .filter(({ required }) => required)
    .map(({ name, type, values }) => ` --${name} ${values?.[0] ?? (type === 'json' ? "'{…}'" : '…')}`)
    .join('')
  return `${usage}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}.

${flags.length === 0 ? '' : `${flags.join('\n')}\n`}${body.length === 0 ? '' : fieldHelp}${outputHelp}${clientHelp}
${method} /v1${path}; the reference of the API at the service's /docs says what each field means.

Example:
  ${['deskwire', name, ...words.map(() => '01980000-0000-7000-8000-000000000001')].join(' ')}${shown}
`
}
