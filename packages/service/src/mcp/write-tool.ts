/** Tools that make one write of the API: a creation, a change or an action. */
import { type Problem, problem } from '../kernel/errors.ts'
import type { State } from '../kernel/fields/field.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { parseAction, parseChange, parseNew } from '../kinds/model/changes.ts'
import type { Kind } from '../kinds/model/kind.ts'
import type { Json } from '../openapi/api-module.ts'
import type { Api } from './api-calls.ts'
import { type Arguments, objectOf, schemaOf, shown, type Tool, type ToolParts, words } from './tool.ts'

interface Write {
  /** Of the object that changes; absent for a creation. */
  readonly id?: string
  /** Absent for a creation or a change of fields. */
  readonly action?: string
  readonly body: Json
}

interface WriteTool extends Omit<Tool, 'input' | 'output' | 'scopes' | 'run'> {
  /** The plural name of its kind. */
  readonly kind: string
  readonly properties: Readonly<Record<string, Json>>
  readonly required: readonly string[]
  readonly write: (args: Arguments) => Write
}

const dryRun: Json = {
  type: 'boolean',
  default: false,
  description:
    'Decides and changes nothing: shows the object as it would become, or the refusal. References and unique values are checked by the write alone.',
}
const expectedVersion = words(
  'The updatedAt of the object as you read it: the write is refused if it has changed since.',
)
const idempotencyKey = words(
  'Your own name for this call. The same call under the same name, within 24 hours, is made once.',
)

export function writeTool(parts: ToolParts, declared: WriteTool): Tool {
  const { kind: plural, properties, required, write, ...tool } = declared
  const kind = parts.kinds.find((each) => each.plural === plural)
  if (kind === undefined) throw new Error(`there is no kind ${plural}`)
  const changes = tool.effect === 'changes'
  const input = { ...properties, dryRun, idempotencyKey, ...(changes ? { expectedVersion } : {}) }
  const object = shown(parts, schemaOf(kind), 'The object after the write.')
  return {
    ...tool,
    scopes: [`${plural}:write`],
    input: objectOf(input, required),
    output: objectOf({ dryRun, [kind.name]: object }, ['dryRun', kind.name]),
    async run(args, api) {
      const made = write(args)
      const result = args.dryRun
        ? await preview(parts, kind, made, args, api)
        : await send(api, plural, made, args)
      return result.ok ? ok({ dryRun: args.dryRun === true, [kind.name]: result.value }) : result
    },
  }
}

function send(api: Api, plural: string, { id, action, body }: Write, args: Arguments) {
  const path = ['/v1', plural, id, action].filter((part) => part !== undefined).join('/')
  // A change of fields has no Idempotency-Key: making it twice changes nothing.
  if (id !== undefined && action === undefined) return api.send('PATCH', path, body, onlyVersion(args))
  return api.send('POST', path, body, {
    idempotencyKey: args.idempotencyKey,
    expectedVersion: args.expectedVersion,
  })
}

function onlyVersion({ expectedVersion }: Arguments) {
  return { expectedVersion }
}

/** The kind's own rules on the object as it is now. They are pure, so nothing changes. */
async function preview(
  { clock }: ToolParts,
  kind: Kind,
  { id, action, body }: Write,
  { expectedVersion }: Arguments,
  api: Api,
): Promise<Result<Json, Problem>> {
  if (id === undefined) return parseNew(kind, body, clock)
  const before = await api.get(`/v1/${kind.plural}/${id}`)
  if (!before.ok) return before
  if (expectedVersion !== undefined && before.value.updatedAt !== expectedVersion)
    return fail(problem('version_mismatch', `It has changed: its updatedAt is ${before.value.updatedAt}.`))
  const state = Object.fromEntries(kind.fieldNames.map((name) => [name, before.value[name]]))
  const after = action === undefined ? parseChange(kind, state, body, clock) : act(action)
  return after.ok ? ok({ ...before.value, ...after.value }) : after

  function act(name: string): Result<State, Problem> {
    const declared = kind.actions[name]
    if (declared === undefined) throw new Error(`a ${kind.name} has no action ${name}`)
    const input = parseAction(name, declared, body)
    return input.ok ? declared.apply(state, input.value, { now: formatTimestamp(clock.now()) }) : input
  }
}
