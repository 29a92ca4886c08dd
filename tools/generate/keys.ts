import { scopeNames } from '../../packages/service/src/auth/scopes.ts'
import { maxWords } from '../../packages/service/src/kernel/fields/fields.ts'
import { keyFields, tokenField } from '../../packages/service/src/keys/api-key.ts'
import { linkFields, sessionFields } from '../../packages/service/src/keys/console-link-routes.ts'
import { linkShape } from '../../packages/service/src/keys/console-links.ts'
import { keyShape } from '../../packages/service/src/keys/keys.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import { organizationFields } from '../../packages/service/src/organization/organization.ts'
import { madeBy, table } from './markdown.ts'
import { shownFields } from './webhooks.ts'

/** Keys and the organization: every field that is set or shown, and every scope. */
export function keyPage(kinds: readonly Kind[]): string {
  const scopes = scopeNames(kinds)
  const yours = Object.entries(keyShape(scopes).fields).map(
    ([name, { accepts, description, nullable, initial }]) => [
      `\`${name}\``,
      initial === undefined ? 'any time, required' : 'any time',
      `${name === 'scopes' ? `a list of 1 to ${maxWords} [scopes](#scopes)` : accepts}${nullable ? ' or null' : ''}`,
      description,
    ],
  )
  return `${madeBy}
# Keys and the organization

How they are made, rotated and revoked is in the [guide](../guides/keys.md).

## api_key

\`/v1/api-keys\`, scope \`api_keys:manage\`. Yours to set:

${table(['field', 'set', 'accepts', 'meaning'], yours)}

Shown:

${shownFields({ ...keyFields(scopes), token: tokenField })}

Filters of the list: \`createdAfter\`, \`createdBefore\`, \`revoked\`.

### Scopes

${scopes.map((scope) => `\`${scope}\``).join(', ')}

## console_link

\`POST /v1/console-links\` makes one, any key of scopes that it holds itself. Yours to set:

${table(
  ['field', 'accepts', 'meaning'],
  Object.entries(linkShape(scopes).fields).map(([name, { accepts, description }]) => [
    `\`${name}\``,
    name === 'scopes' ? `a list of [scopes](#scopes), but for \`api_keys:manage\` and \`*\`` : accepts,
    description,
  ]),
)}

Shown:

${shownFields(linkFields(scopes))}

## console_session

The response of \`POST /v1/console-links/exchange\` to a \`link\`, the part of the URL after \`#link=\`. It works once and needs no key.

${shownFields(sessionFields(scopes))}

## organization

\`/v1/organization\`. Any key reads it; \`api_keys:manage\` changes its \`name\`, a string of 1 to 255 characters.

${shownFields(organizationFields)}
`
}
