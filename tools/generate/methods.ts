/** `docs/reference/methods.md`: each call of the API with its names in the clients. */
import { kebab, resourcesOf, snake } from './clients.ts'
import { madeBy, table } from './markdown.ts'
import type { ApiDocument } from './python-models.ts'

export function methodsPage(document: ApiDocument): string {
  const rows = resourcesOf(document).flatMap(({ isAdmin, methods }) =>
    methods.map(({ resource, name, verb, path, summary }) => [
      `\`${isAdmin ? 'admin' : 'client'}.${resource}.${name}\``,
      summary,
      `\`${verb.toUpperCase()} ${path.startsWith('/..') ? path.slice(3) : `/v1${path}`}\``,
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
the key of the operator (\`DESKWIRE_ADMIN_KEY\`).

${table(['method', 'does', 'call'], rows)}
`
}
