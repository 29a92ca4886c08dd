/** `docs/reference/methods.md`: each call of the API with its names and signatures in the clients. */
import { type ClientMethod, kebab, type Resource, resourcesOf, snake } from './clients.ts'
import { madeBy, table } from './markdown.ts'
import type { ApiDocument } from './python-models.ts'
import { pythonSignature } from './python-resources.ts'
import { signatureOf } from './typescript.ts'

export function methodsPage(document: ApiDocument): string {
  const resources = resourcesOf(document)
  const rows = resources.flatMap(({ isAdmin, methods }) =>
    methods.map((method) => [
      `[\`${isAdmin ? 'admin' : 'client'}.${calledOf(method)}\`](#${calledOf(method).replace('.', '').toLowerCase()})`,
      method.summary,
      callOf(method),
    ]),
  )
  return `${madeBy}
# Methods of the clients

Each call has one name, \`x-client\` in [openapi.json](../../openapi.json), and each client spells it as its language does. \`apiKeys.deletePreviousToken\`
is \`client.apiKeys.deletePreviousToken(id)\` in TypeScript, \`client.${snake('apiKeys')}.${snake('deletePreviousToken')}(id)\` in Python, and
\`deskwire ${kebab('apiKeys')} ${kebab('deletePreviousToken')} ID\` on the command line. Python adds \`_\` to words that it reserves: \`import_\`, \`from_\`. Ids come
first, then the body or query, then options. The SDKs' \`batch\` creates; \`upsert\` and \`import\` are the other operations of the same call. Kinds also have
\`getMany\`, \`sync\` and \`follow\`. The command line has no batches, digests and syncs; [\`import\`](commands.md#import), [\`export\`](commands.md#export) and
[\`tail\`](commands.md#tail) do that work, and [\`api\`](commands.md#api) makes any call. \`admin\` is \`createAdminClient()\`, in Python \`AdminClient()\`, with
the key of the operator (\`DESKWIRE_ADMIN_KEY\`); on the command line they are [\`organizations\`](commands.md#organizations-list), where the database is.

${table(['method', 'does', 'call'], rows)}

${resources.map(sectionsOf).join('\n')}`
}

function calledOf({ resource, name }: ClientMethod): string {
  return `${resource}.${name}`
}

function callOf({ verb, path }: ClientMethod): string {
  return `\`${verb.toUpperCase()} ${path.startsWith('/..') ? path.slice(3) : `/v1${path}`}\``
}

/** A section for each method of a resource: what it does, and how it is called. */
function sectionsOf({ name, isAdmin, kind, methods }: Resource): string {
  const client = isAdmin ? 'admin' : 'client'
  const sections = methods.map(
    (method) => `### ${calledOf(method)}

${method.summary}. ${method.description.replace(/\s*\n\s*/g, ' ')} ${callOf(method)}

\`\`\`ts
${client}.${name}.${name === 'changes' ? changes.typescript : signatureOf(method, kind)}
\`\`\`

\`\`\`python
${client}.${snake(name)}.${name === 'changes' ? changes.python : pythonSignature(method, kind)}
\`\`\`
`,
  )
  return `## ${kebab(name)}\n\n${sections.join('\n')}`
}

/** The stream of all kinds, which both write by hand. */
const changes = {
  typescript:
    'sync(params?: SyncParams, options?: CallOptions): AsyncGenerator<SyncPage<AnyRow, Checkpoints>>',
  python:
    'sync(*, cursor: str | None = None, updated_after: str | None = None, limit: int = 100) -> Iterator[Page[AnyRow]]',
}
