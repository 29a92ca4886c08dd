import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { parseFlags } from '../flags.ts'
import { outputFlags, outputHelp, readOutput, show } from '../output.ts'
import { addFields, type Fields, fieldHelp, readData } from '../resources/input.ts'
import { UsageError } from '../usage-error.ts'

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const

export const apiCommand: Command = {
  help: () => `deskwire api [METHOD] PATH: make any call of the API, and print its response.

  METHOD                 ${methods.join(', ')}; default: GET, or POST with fields or data
  PATH                   below /v1, with its query: /tickets?status=open
${fieldHelp}  --header, -H NAME:TEXT a header, for example If-Match
${outputHelp}${clientHelp}
Fields of a GET are its query. The response is JSON unless --output says otherwise.

Examples:
  deskwire api '/tickets?status=open' --output table
  deskwire api POST /customers -f name='Ada Lovelace' -f tags:='["vip"]'
`,
  words: () => methods,
  async run(args) {
    const { texts, switches, lists, words } = parseFlags(args, {
      texts: ['data', ...outputFlags, ...clientFlags],
      switches: ['json'],
      lists: { field: 'f', header: 'H' },
      words: 2,
    })
    const hasFields = lists.field.length > 0 || texts.data !== undefined
    const [path, named] = words.length === 2 ? [words[1], words[0]] : [words[0], hasFields ? 'POST' : 'GET']
    const method = methods.find((one) => one === named?.toUpperCase())
    if (path === undefined || method === undefined)
      throw new UsageError(`api needs a path, after one of ${methods.join(', ')}: deskwire api GET /tickets`)
    const shown = readOutput(texts, switches, 'json')
    const fields: Fields = texts.data === undefined ? {} : await readData(texts.data)
    addFields(fields, lists.field)
    const headers = Object.fromEntries(
      lists.header.map((one) => {
        const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(one) ?? []
        if (name === '')
          throw new UsageError(
            `--header: ${JSON.stringify(one)} is not accepted; it must be like If-Match: *`,
          )
        return [name, value]
      }),
    )
    const client = clientOf(requireTarget('api', texts))
    const isRead = method === 'GET' || method === 'DELETE'
    const query = isRead ? queryOf(fields) : ''
    const address = `/${path.replace(/^\//, '').replace(/^v1\//, '')}`
    const joint = query === '' ? '' : address.includes('?') ? '&' : '?'
    const body = !isRead && hasFields ? { body: fields } : {}
    show(await client.request(method, `${address}${joint}${query}`, { headers, ...body }), shown)
  },
}

function queryOf(fields: Fields): string {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return String(new URLSearchParams(entries as [string, string][]))
}
