/** The SDK's types of keys and of the organization, from the declarations that document them. */

import { scopeNames } from '../../packages/service/src/auth/scopes.ts'
import { keyFields } from '../../packages/service/src/keys/api-key.ts'
import { linkFields, sessionFields } from '../../packages/service/src/keys/console-link-routes.ts'
import { linkShape } from '../../packages/service/src/keys/console-links.ts'
import { keyShape } from '../../packages/service/src/keys/keys.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import {
  organizationFields,
  organizationShape,
} from '../../packages/service/src/organization/organization.ts'
import { acceptedMembers, shownMembers } from './sdk-type-text.ts'

export function accessTypes(kinds: readonly Kind[]): string {
  const scopes = scopeNames(kinds)
  const union = scopes.map((scope) => `'${scope}'`).join(' | ')
  const ofRow = ['id', 'object', 'organizationId', 'createdAt', 'updatedAt']
  const key = keyShape(scopes)
  const byName = (members: string) => members.replaceAll(union, 'Scope')
  // A session manages no keys.
  const byAny = (members: string) =>
    members.replace(/scopes: \(.*\)\[\]/, "scopes: Exclude<Scope, '*' | 'api_keys:manage'>[]")
  return `/** What a key may do. \`write\` does not imply \`read\`; \`*\` is everything. */
export type Scope = ${union}

/** An API key, without its token: that is shown by creation and rotation alone. */
export interface ApiKey extends Row {
  object: 'api_key'
${byName(shownMembers(keyFields(scopes), ofRow))}}

export interface ApiKeyInput {
${byName(acceptedMembers(key.fields, 'create'))}}

export interface ApiKeyPatch {
${byName(acceptedMembers(key.fields, 'patch'))}}

export interface ApiKeyFilters {
  createdAfter?: string
  createdBefore?: string
  revoked?: boolean
}

/** A link to the console, which works once. */
export interface ConsoleLink {
${byName(shownMembers(linkFields(scopes)))}}

export interface ConsoleLinkInput {
${byAny(acceptedMembers(linkShape(scopes).fields, 'create'))}}

/** What a link is exchanged for. */
export interface ConsoleSession {
${byName(shownMembers(sessionFields(scopes)))}}

/** What owns everything that a key can reach. */
export interface Organization {
  object: 'organization'
${shownMembers(organizationFields, ['object'])}}

export interface OrganizationPatch {
${acceptedMembers(organizationShape.fields, 'patch')}}
`
}
