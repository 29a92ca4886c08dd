/** The calls of the API, as `operations.ts` lists them. */
import { operationLines } from './operations.ts'

export interface Flag {
  /** `customer-id`. */
  readonly name: string
  /** `customerId`. */
  readonly field: string
  readonly required: boolean
  readonly type: 'text' | 'list' | 'number' | 'switch' | 'json'
  /** Of a text, what it may be. */
  readonly values: readonly string[] | null
}

export interface Operation {
  /** `tickets list`. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `/tickets/{id}`. */
  readonly path: string
  readonly summary: string
  readonly query: readonly Flag[]
  readonly body: readonly Flag[]
}

const types = { '[]': 'list', '#': 'number', '?': 'switch', '{}': 'json', '': 'text' } as const

/** All of them, in the order of the document. */
export const operations: readonly Operation[] = operationLines
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [name = '', method = '', path = '', summary = '', query = '', body = ''] = line.split('\t')
    return {
      name,
      method: method as Operation['method'],
      path,
      summary: summary.replace(/\.$/, ''),
      query: query.split(' ').flatMap(flagOf),
      body: body.split(' ').flatMap(flagOf),
    }
  })

/** What the path has to be told: `ID`, `DELIVERY_ID`. */
export function wordsOf({ path }: Operation): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  // The endpoint's own id comes first, where there are two.
  return names.map((name, n) =>
    n === 0 && names.length > 1 ? 'WEBHOOK_ID' : kebab(name).replace('-', '_').toUpperCase(),
  )
}

function flagOf(text: string): Flag[] {
  const [, flag, field, required, type = '', values] =
    /^(?:(\w+):)?(\w+)(!?)(\[\]|#|\?|\{\})?(?:=(.*))?$/.exec(text) ?? []
  if (field === undefined) return []
  return [
    {
      name: kebab(flag ?? field),
      field,
      required: required === '!',
      type: types[type as keyof typeof types],
      values: values?.split('|') ?? null,
    },
  ]
}

/** `customerId` → `customer-id`. */
export function kebab(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
