/** Tools that make one write of the API: a creation, a change or an action. */
import type { Json } from './api.ts'
import { type Arguments, objectOf, schemaOf, shown, type Tool, type ToolParts, words } from './tool.ts'

interface Write {
  /** Of the object that changes; absent for a creation. */
  readonly id?: string
  readonly body: Json
}

interface WriteTool extends Omit<Tool, 'input' | 'output' | 'scopes' | 'run'> {
  /** The plural name of its kind. */
  readonly kind: string
  /** Of the API; absent for a creation or a change of fields. */
  readonly action?: string
  readonly properties: Readonly<Record<string, Json>>
  readonly required: readonly string[]
  readonly write: (args: Arguments) => Write
}

const dryRun: Json = {
  type: 'boolean',
  default: false,
  description: 'Decides and changes nothing: shows the object as it would become, or the refusal.',
}
const expectedVersion = words(
  'The updatedAt of the object as you read it: the write is refused if it has changed since.',
)
const idempotencyKey = words(
  'Your own name for this call. The same call under the same name, within 24 hours, is made once.',
)

export function writeTool(parts: ToolParts, declared: WriteTool): Tool {
  const { kind: plural, action, properties, required, write, ...tool } = declared
  const kind = parts.kinds.find((each) => each.plural === plural)
  if (kind === undefined) throw new Error(`there is no kind ${plural}`)
  const changes = tool.effect === 'changes'
  // A change of fields has no Idempotency-Key: making it twice changes nothing.
  const isUpdate = changes && action === undefined
  const input = {
    ...properties,
    dryRun,
    ...(isUpdate ? {} : { idempotencyKey }),
    ...(changes ? { expectedVersion } : {}),
  }
  const object = shown(parts, schemaOf(kind), 'The object after the write.')
  return {
    ...tool,
    scopes: [`${plural}:write`],
    input: objectOf(input, required),
    output: objectOf({ dryRun, [kind.name]: object }, ['dryRun', kind.name]),
    async run(args, api) {
      const { id, body } = write(args)
      const { dryRun = false, expectedVersion, idempotencyKey } = args
      const path = [plural, id, action].filter((part) => part !== undefined).join('/')
      const headers = { expectedVersion, idempotencyKey }
      const written = await api.send(isUpdate ? 'PATCH' : 'POST', `/${path}?dryRun=${dryRun}`, body, headers)
      return { dryRun, [kind.name]: written }
    },
  }
}
