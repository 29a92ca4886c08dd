/**
 * The options of endpoints in the API: what each accepts, how a row stores them, and how a record shows them. An option
 * that has its default is neither stored nor shown.
 */
import { z } from 'zod'
import { defineField, type Fields, isObject } from '../../kernel/fields/field.ts'
import { choice, flag, integer } from '../../kernel/fields/fields.ts'
import { namedValues } from '../../kinds/model/common-fields.ts'
import { count, optional, type Shown, text } from '../../openapi/field-schemas.ts'
import type { Condition, EndpointOptions } from '../model.ts'

/** Headers of an endpoint's own: how many, and how long their values are, each and together. */
const maxHeaders = 10
const longestName = 64
const longestValue = 1_024
const longestValues = 4_096

/** Names that the service, HTTP or the connection sets. */
const reservedNames =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|expect|user-agent|date|via|forwarded|traceparent|tracestate|baggage|x-service-.*|webhook-.*)$/

type OwnHeaders = Readonly<Record<string, string>>

const headerPart = {
  name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  value: /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/,
}

/** What is wrong with a header, in words; null when it may be sent. */
function faultOf(name: string, value: unknown): string | null {
  if (name.length > longestName || !headerPart.name.test(name)) return 'its name is no header name'
  if (reservedNames.test(name.toLowerCase())) return `the service sets ${name.toLowerCase()} itself`
  if (typeof value !== 'string' || value.length > longestValue || !headerPart.value.test(value))
    return 'its value is not such a string'
  return null
}

const headersAccept = `an object of at most ${maxHeaders} headers, each a name of at most ${longestName} characters with a string of 1 to ${longestValue} printable ASCII characters, ${longestValues} together; not host, connection, content-*, user-agent, x-service-*, webhook-* or others that the service sets`

const headers = defineField<OwnHeaders | null>(
  z
    .unknown()
    .check(({ value: given, issues }) => {
      const refuse = (because: string, path: PropertyKey[] = []) =>
        issues.push({ code: 'custom', params: { code: 'invalid_value', because }, path, input: given })
      if (!isObject(given)) {
        issues.push({ code: 'invalid_type', expected: 'record', input: given })
        return
      }
      const entries = Object.entries(given)
      if (entries.length > maxHeaders) return void refuse(`there are ${entries.length}`)
      const names = new Set(entries.map(([name]) => name.toLowerCase()))
      if (names.size < entries.length) return void refuse('a name is there twice')
      for (const [name, value] of entries) {
        const fault = faultOf(name, value)
        if (fault !== null) refuse(fault, [name])
      }
      const length = entries.reduce(
        (sum, [, value]) => sum + (typeof value === 'string' ? value.length : 0),
        0,
      )
      if (length > longestValues) refuse(`the values have ${length} characters`)
    })
    .meta({
      type: 'object',
      maxProperties: maxHeaders,
      additionalProperties: { type: 'string', minLength: 1, maxLength: longestValue },
    })
    .transform((given) =>
      Object.fromEntries(
        Object.entries(given as OwnHeaders).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    ),
  headersAccept,
  'text',
  {
    description:
      'Headers that are sent along, such as Authorization. Their values are stored encrypted and never shown. A PATCH replaces all of them.',
  },
)

const maxConditions = 10
const maxValues = 20
const operators = ['equals', 'in', 'changed', 'exists'] as const

const scalar = z.union([z.string().max(255), z.number(), z.boolean(), z.null()])

const conditions = defineField<readonly Condition[] | null>(
  z
    .array(
      z
        .strictObject({
          field: z.string().min(1).max(64),
          op: z.enum(operators),
          value: z.union([scalar, z.array(scalar).min(1).max(maxValues)]).optional(),
        })
        .check(({ value: given, issues }) => {
          const fits =
            given.op === 'in'
              ? Array.isArray(given.value)
              : given.op === 'exists'
                ? given.value === undefined || typeof given.value === 'boolean'
                : given.op === 'changed'
                  ? given.value === undefined
                  : given.value !== undefined && !Array.isArray(given.value)
          if (!fits)
            issues.push({
              code: 'custom',
              params: { code: 'invalid_value' },
              path: ['value'],
              input: given.value,
            })
        }),
    )
    .max(maxConditions),
  `a list of at most ${maxConditions} conditions, each an object of field, op and value`,
  'text',
  {
    description:
      'An event is sent if all conditions hold of its object as it was then. Removals are always sent, unless one is on id.',
  },
  {
    acceptsWithin: {
      field: 'the name of a field of the object',
      op: `one of ${operators.join(', ')}`,
      value: `one value with equals, a list of 1 to ${maxValues} values with in, true, false or nothing with exists, and nothing with changed`,
    },
  },
)

/** The fields of creation and of change. */
export const optionFields = {
  headers,
  rateLimit: integer({ min: 1, max: 1_000, description: 'The most attempts a second.' }),
  maxConcurrent: integer({ min: 1, max: 16, description: 'The most attempts at once, instead of 16.' }),
  format: choice(['envelope', 'mcp'], {
    initial: 'envelope',
    description:
      'The body of a delivery: the envelope, or with mcp an occurrence of the events proposal of the Model Context Protocol, which 410 and 413 refuse for good.',
  }),
  payload: choice(['full', 'thin'], {
    initial: 'full',
    description: 'The data of an event: the object, or with thin its id and object alone.',
  }),
  honorRetryAfter: flag({
    initial: false,
    description:
      'Whether a Retry-After with a 429 or 503 puts off the next attempt beyond its delay, by a day at most.',
  }),
  disableOn410: flag({ initial: false, description: 'Whether an answer of 410 disables the endpoint.' }),
  conditions,
  changedFields: flag({
    initial: false,
    description: 'Whether changedFields in the envelope of a change names the fields that changed.',
  }),
  includeActor: flag({
    initial: false,
    description:
      'Whether envelopes have `actor`, who caused the event, and `requestId`, the X-Request-Id of the request.',
  }),
  skipOwn: flag({
    initial: false,
    description:
      'Whether events that the registering key, or a session of it, has caused are left out: they are in the log as skipped.',
  }),
  coalesce: integer({
    min: 1,
    max: 3_600,
    description:
      'Seconds for which an `updated` event waits: those of the same object that come meanwhile are sent as one, with the object as it then is; the others are in the log as skipped, with `coalescedInto`.',
  }),
  metadata: namedValues<string>(
    [],
    { most: 20, values: 'a string of at most 500 characters' },
    'Strings of your own, for your programs: deliveries do not have them. A PATCH merges; null deletes a key.',
  ),
} satisfies Fields

type OptionName = keyof typeof optionFields

/** The values of a body, or of a row. */
export type OptionValues = Readonly<Partial<Record<OptionName, unknown>>>

const names = Object.keys(optionFields) as readonly OptionName[]

/** The values as a PATCH is laid over them. Those of headers are not known: a PATCH replaces them. */
export function valuesOf(options: EndpointOptions | null): OptionValues {
  return Object.fromEntries(
    names.map((name) => [name, options?.[name] ?? optionFields[name].initial ?? null]),
  )
}

/** What a row stores: null where all have their defaults. Keeps those in `before` that only a later release knows. */
export function storedOptions(
  values: OptionValues,
  before: EndpointOptions | null = null,
  isPaused = false,
): EndpointOptions | null {
  const others = Object.entries(before ?? {}).filter(
    ([name]) => name !== 'paused' && !Object.hasOwn(optionFields, name),
  )
  const stored = names.flatMap((name) => {
    const value = name === 'headers' ? headerNames(values.headers) : values[name]
    const isDefault = value == null || value === optionFields[name].initial || isEmpty(value)
    return isDefault ? [] : [[name, value] as const]
  })
  const all = [...stored, ...others, ...(isPaused ? [['paused', true] as const] : [])]
  return all.length === 0 ? null : (Object.fromEntries(all) as EndpointOptions)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function headerNames(given: unknown): readonly string[] | null {
  if (Array.isArray(given)) return given
  const found = Object.keys((given as OwnHeaders | null) ?? {})
  return found.length === 0 ? null : found
}

/** The options that a record shows. */
export function shownOptions(options: EndpointOptions | null): {
  headerNames?: readonly string[]
} & Omit<EndpointOptions, 'headers' | 'paused'> {
  if (options === null) return {}
  const { headers: headerNames, paused: _, ...others } = options
  return { ...(headerNames === undefined ? {} : { headerNames }), ...others }
}

const oneValue = { anyOf: ['string', 'number', 'boolean', 'null'].map((type) => ({ type })) }

export const shownOptionFields: Shown<ReturnType<typeof shownOptions>> = {
  headerNames: optional({ type: 'array', items: text }, 'The names of its own headers; absent without any.'),
  rateLimit: optional(count, 'The most attempts a second; absent without a limit.'),
  maxConcurrent: optional(count, 'The most attempts at once; absent where that is 16.'),
  format: optional(
    { type: 'string', examples: ['mcp'] },
    'The form of bodies; absent where it is the envelope.',
  ),
  payload: optional(
    { type: 'string', examples: ['thin'] },
    'The form of data; absent where it is the object.',
  ),
  honorRetryAfter: optional({ type: 'boolean' }, 'Retry-After puts off attempts; absent where it does not.'),
  disableOn410: optional({ type: 'boolean' }, 'A 410 disables it; absent where it does not.'),
  conditions: optional(
    {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'op'],
        properties: {
          field: text,
          op: { type: 'string', examples: [...operators] },
          value: { anyOf: [oneValue, { type: 'array', items: oneValue }] },
        },
      },
    },
    'All must hold for an event to be sent; absent without any.',
  ),
  changedFields: optional({ type: 'boolean' }, 'Envelopes of changes name them; absent where they do not.'),
  includeActor: optional(
    { type: 'boolean' },
    'Envelopes say who caused the event; absent where they do not.',
  ),
  skipOwn: optional({ type: 'boolean' }, 'Events that its own key has caused are skipped; absent where not.'),
  coalesce: optional(
    count,
    'Seconds for which updates of an object are sent as one; absent where each is sent.',
  ),
  metadata: optional(
    { type: 'object', additionalProperties: text },
    'Strings of the client that registered it; absent without any.',
  ),
}
