/** The routes of console links (specification 3.7): create a link, exchange it for a session, end either. */

import { parseId } from '../kernel/ids.ts'
import { done, refused } from '../kernel/outcome.ts'
import { type ApiModule, constant, exampleId, exampleTime, ref, routesOf } from '../openapi/api-module.ts'
import {
  creationBody,
  field,
  recordSchema,
  type Shown,
  text,
  time,
  uuid,
  words,
} from '../openapi/field-schemas.ts'
import {
  type ConsoleLink,
  type ConsoleLinks,
  type ConsoleSession,
  exchangeShape,
  linkIn,
  linkShape,
  noSuchConsoleLink,
} from './console-links.ts'

const route = routesOf<{ readonly links: ConsoleLinks }>()
const common = { tag: 'api-keys' } as const

const createLink = route({
  ...common,
  access: 'any key',
  method: 'post',
  path: '/v1/console-links',
  id: 'createConsoleLink',
  summary: 'Make a link to the console for somebody without a key',
  description:
    'The link works once: the console exchanges it for a session that may do what the link says, for the key that made it, and ends with the link, with that key, or when the link is deleted. A session cannot make links.',
  body: 'ConsoleLinkCreate',
  once: true,
  answers: {
    201: { description: 'The link.', schema: ref('ConsoleLink'), shownOnce: true },
  },
  errors: ['insufficient_scope', 'limit_reached'],
  withhold: async ({ links }, caller, stored) => links.withhold(caller, stored),
  handle: ({ links }, { caller, body, request, record }) =>
    links.create(caller, body, request.origin, record),
})

const exchangeLink = route({
  ...common,
  access: 'public',
  method: 'post',
  path: '/v1/console-links/exchange',
  id: 'exchangeConsoleLink',
  summary: 'Exchange a link for the token of its session, once',
  description: 'Needs no key. The token is sent as the token of a key is.',
  body: 'ConsoleLinkExchange',
  answers: {
    200: { description: 'The session, with its token.', schema: ref('ConsoleSession'), shownOnce: true },
  },
  errors: ['not_found'],
  ownedBy: linkIn,
  handle: ({ links }, { body }) => links.exchange(body),
})

const removeLink = route({
  ...common,
  access: 'any key',
  method: 'delete',
  path: '/v1/console-links/{id}',
  id: 'deleteConsoleLink',
  summary: 'End a link and its session at once',
  description:
    'By the key that made it, by a key with api_keys:manage, or by the session itself, for which the id is in the answer to its exchange.',
  answers: { 204: { description: 'Ended.' } },
  errors: ['not_found'],
  async handle({ links }, { caller, params }) {
    const id = parseId(params.id)
    if (id === null || !(await links.remove(caller, id))) return refused(noSuchConsoleLink(params.id))
    return done(null)
  },
})

export const linkFields = (scopes: readonly string[]): Shown<ConsoleLink> => ({
  id: field(uuid, 'Its id.'),
  object: field(constant('console_link'), 'Its kind.'),
  scopes: field({ type: 'array', items: words(...scopes) }, 'The scopes of its session.'),
  url: field(text, 'Opens the console, once. Its secret is behind the #, which browsers send to nobody.'),
  expiresAt: field(time, 'When link and session end, if not before.'),
})

export const sessionFields = (scopes: readonly string[]): Shown<ConsoleSession> => ({
  id: field(uuid, 'The id of its link, by which it is ended.'),
  object: field(constant('console_session'), 'Its kind.'),
  organizationId: field(uuid, 'Whose it is.'),
  scopes: field({ type: 'array', items: words(...scopes) }, 'The calls that it may make.'),
  token: field(
    { type: 'string', pattern: '^dws_[0-9A-Za-z]{36}$' },
    'Says who calls, as the token of a key does. Shown this once.',
  ),
  expiresAt: field(time, 'When it ends, if not before.'),
})

const exampleLink = {
  id: exampleId(6),
  object: 'console_link',
  scopes: ['webhooks:read', 'webhooks:write'],
  url: 'https://desk.example.com/console#link=dwl_0123456789ABCDEFGHIJKLMNOPQRST2Ia5MR',
  expiresAt: exampleTime,
}

const exampleSession = {
  id: exampleId(6),
  object: 'console_session',
  organizationId: exampleId(0),
  scopes: exampleLink.scopes,
  token: 'dws_0123456789ABCDEFGHIJKLMNOPQRST15K7mV',
  expiresAt: exampleTime,
}

export function consoleLinkApi(scopes: readonly string[]) {
  return {
    tags: [],
    routes: [createLink, exchangeLink, removeLink],
    schemas: () => ({
      ConsoleLink: recordSchema('A link to the console.', linkFields(scopes), exampleLink),
      ConsoleSession: recordSchema('A session of the console.', sessionFields(scopes), exampleSession),
      ConsoleLinkCreate: creationBody(Object.entries(linkShape(scopes).fields), {
        scopes: exampleLink.scopes,
        expiresIn: 3600,
      }),
      ConsoleLinkExchange: creationBody(Object.entries(exchangeShape.fields), {
        link: 'dwl_0123456789ABCDEFGHIJKLMNOPQRST2Ia5MR',
      }),
    }),
  } satisfies ApiModule
}
