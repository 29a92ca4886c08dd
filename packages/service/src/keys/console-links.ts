/**
 * Links to the console (specification 3.7). A key creates one for a person without a key; the first browser that opens
 * it exchanges it for a session, with the link's scopes, until link or key expire or are removed.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Caller } from '../auth/authenticator.ts'
import { grants, managingScope } from '../auth/scopes.ts'
import { hashToken, isToken, newToken } from '../auth/token.ts'
import { announced, type Directory } from '../databases/directory.ts'
import type { Database } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { isServedElsewhere, OrganizationNotServed } from '../db/not-served.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'
import { encodeResponse, type Sealed } from '../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../journal/change.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../journal/functions.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { noSuch, type Problem, problem } from '../kernel/errors.ts'
import { integer, text, wordList } from '../kernel/fields/fields.ts'
import { parseCreation, type Shape } from '../kernel/fields/validate.ts'
import { newId } from '../kernel/ids.ts'
import { done, fail, type Outcome, ok, outcomeOf, type Result, refused } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import type { Keys } from './keys.ts'
import { callerChanged, hasExpired, refuseGrant } from './keys.ts'

/** That have not ended. */
export const linkLimit = 1_000
/** Seconds. */
const maximumLinkSeconds = 24 * 60 * 60
const defaultLinkSeconds = 60 * 60

export interface ConsoleLink {
  readonly id: string
  readonly object: 'console_link'
  readonly scopes: readonly string[]
  readonly url: string
  readonly expiresAt: string
}

export interface ConsoleSession {
  readonly id: string
  readonly object: 'console_session'
  readonly organizationId: string
  readonly scopes: readonly string[]
  readonly token: string
  readonly expiresAt: string
}

interface ConsoleLinkServices {
  readonly database: Pick<Database, 'of' | 'forSeveral'>
  readonly callUnderClock: CallUnderClock
  readonly clock: Clock
  readonly scopes: readonly string[]
  /** Encrypts a response that holds a link's secret. */
  readonly seal: (answer: string, organizationId: string, linkId: string) => Promise<Sealed>
  /** Records links and sessions first. Null: this database has the directory itself, or there is none. */
  readonly directory?: Pick<Directory, 'note' | 'noteBeside' | 'forgetTokens'> | null
}

/** A session cannot manage keys, as a key that it created would not end with it. */
export function linkShape(scopes: readonly string[]): Shape {
  const grantable = scopes.filter((scope) => scope !== managingScope && scope !== '*')
  const fields = {
    scopes: wordList(grantable, {
      description:
        'The scopes of its session, at most those of the key that makes it. It cannot manage keys.',
    }),
    expiresIn: integer({
      min: 60,
      max: maximumLinkSeconds,
      description: 'After how many seconds link and session end; an hour unless given.',
    }),
  }
  return { name: 'link', fields }
}

export const exchangeShape: Shape = {
  name: 'exchange',
  fields: {
    link: text({ required: true, min: 1, max: 100, description: 'The part of the URL after #link=.' }),
  },
}

export function linkIn(body: unknown): string | null {
  const { link } = (body ?? {}) as { readonly link?: unknown }
  return typeof link === 'string' && isToken(link, 'link') ? link : null
}

export const createLinkFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './create-console-link.sql'),
  [lockClockFunction, replayedFunction, storeResponseFunction],
)

/** SQL: the link with the hash `$1` can be exchanged at `$2`, and its key can have a session. */
const isExchangeable = `c.token_hash = $1 and c.exchanged_at is null and c.expires_at > $2
             and k.organization_id = c.organization_id and k.id = c.api_key_id
             and (k.expires_at is null or k.expires_at > $2)`
const exchangeable = `console_links c, api_keys k where ${isExchangeable}`

export type ConsoleLinks = ReturnType<typeof createConsoleLinks>

export function createConsoleLinks(services: ConsoleLinkServices) {
  const { database, callUnderClock, clock, seal, directory = null } = services
  const shape = linkShape(services.scopes)
  const bytes = (token: string) => Buffer.from(hashToken(token), 'hex')

  async function countLinks(organizationId: string, now: number): Promise<number> {
    const { rows } = await database
      .of(organizationId)
      .query<{ links: number }>(
        'select count(*)::int as links from console_links c where c.organization_id = $1 and c.expires_at > $2',
        [organizationId, formatTimestamp(now)],
      )
    return rows[0]?.links ?? 0
  }

  return {
    /** `base`: the URL of the service, such as `https://desk.example`. */
    async create(
      caller: Caller,
      body: unknown,
      base: string,
      record: ResponseToStore | null,
    ): Promise<Outcome<ConsoleLink>> {
      if (caller.sessionId !== undefined) return refused(noLinksOfSessions)
      const parsed = parseCreation(shape, body)
      if (!parsed.ok) return refused(parsed.error)
      const { scopes, expiresIn } = parsed.value as { scopes: readonly string[]; expiresIn: number | null }
      const refusal = refuseGrant(caller.scopes, scopes)
      if (refusal !== null) return refused(refusal)
      const { organizationId } = caller
      const now = clock.now()
      const id = newId(clock)
      const secret = newToken('link')
      const expiresAt = formatTimestamp(now + (expiresIn ?? defaultLinkSeconds) * 1000)
      const url = `${base}/console#link=${secret}`
      const link: ConsoleLink = { id, object: 'console_link', scopes, url, expiresAt }
      const response =
        record === null
          ? null
          : encodeResponse(record, { sealed: await seal(JSON.stringify(link), organizationId, id) })
      if (directory !== null && (await countLinks(organizationId, now)) >= linkLimit)
        return refused(tooManyLinks)
      const created = await announced(directory, { organizationId, hash: bytes(secret) }, () =>
        callUnderClock<'done' | 'limit_reached' | 'caller_changed' | 'replayed'>(createLinkFunction, [
          organizationId,
          id,
          formatTimestamp(now),
          caller.apiKeyId,
          scopes,
          bytes(secret),
          expiresAt,
          linkLimit,
          response,
        ]),
      )
      return outcomeOf(created, link, { limit_reached: tooManyLinks, caller_changed: callerChanged })
    },

    /** Refuses to show the caller the stored response to a creation again; null: it may see it. */
    withhold(caller: Caller, stored: string): Problem | null {
      if (caller.sessionId !== undefined) return noLinksOfSessions
      return refuseGrant(caller.scopes, (readJson(stored) as ConsoleLink).scopes)
    },

    async exchange(body: unknown): Promise<Outcome<ConsoleSession>> {
      const parsed = parseCreation(exchangeShape, body)
      if (!parsed.ok) return refused(parsed.error)
      const { link } = parsed.value as { link: string }
      if (!isToken(link, 'link')) return refused(noSuchLink)
      const token = newToken('session')
      const now = formatTimestamp(clock.now())
      if (directory !== null) {
        // Public, so it writes nothing for an invalid link.
        const { rows: known } = await database.forSeveral.query(`select 1 from ${exchangeable}`, [
          bytes(link),
          now,
        ])
        if (known.length === 0) return refused(noSuchLink)
        await directory.noteBeside(bytes(link), bytes(token))
      }
      // Of two concurrent exchanges the second finds no such hash.
      const { rows } = await database.forSeveral.query<{
        organization_id: string
        id: string
        scopes: string[]
        key_scopes: string[]
        expires_at: Date
      }>(
        `update console_links c set token_hash = $3, exchanged_at = $2 from api_keys k
           where ${isExchangeable}
           returning c.organization_id, c.id, c.scopes, k.scopes as key_scopes, c.expires_at`,
        [bytes(link), now, bytes(token)],
      )
      const [row] = rows
      // The link is used up by now, so the session is answered whatever happens here: the directory's sweep forgets the
      // rest.
      await directory?.forgetTokens([row === undefined ? bytes(token) : bytes(link)]).catch(() => {})
      if (row === undefined) return refused(noSuchLink)
      const session: ConsoleSession = {
        id: row.id,
        object: 'console_session',
        organizationId: row.organization_id,
        scopes: row.scopes.filter((scope) => grants(row.key_scopes, scope)),
        token,
        expiresAt: formatTimestamp(row.expires_at.getTime()),
      }
      return done(session)
    },

    /** Whether a link existed that the caller may end: as its key, its session, or a key that manages keys. */
    async remove({ organizationId, apiKeyId, scopes, sessionId }: Caller, id: string): Promise<boolean> {
      const { rowCount } = await database.of(organizationId).query(
        `delete from console_links c where c.organization_id = $1 and c.id = $2
           and case when $4::uuid is null then c.api_key_id = $3 or $5::boolean else c.id = $4 end`,
        [organizationId, id, apiKeyId, sessionId ?? null, grants(scopes, managingScope)],
      )
      return rowCount === 1
    },
  }
}

export function noSuchConsoleLink(id: string): Problem {
  return noSuch('console link', id, 'It may have ended, or another key made it.')
}

const noSuchLink = problem(
  'not_found',
  'There is no such link: it was used already, has ended, or was deleted. Ask for a new one.',
)

const noLinksOfSessions = problem(
  'insufficient_scope',
  'A session of the console makes no links. Use the API key that made its own.',
)

const tooManyLinks = problem(
  'limit_reached',
  `An organization has at most ${linkLimit} console links that have not ended. DELETE some, or give them a shorter expiresIn.`,
)

interface KeyName {
  readonly organizationId: string
  readonly apiKeyId: string
}

interface KeySession {
  readonly token: string
  readonly expiresAt: string
}

/**
 * `wanted`: at most these scopes; null: all that a session can have. Null: there is no such valid key here.
 * @throws OrganizationNotServed when another database serves the organization, or none does while it moves
 */
export type BeginSession = (
  key: KeyName,
  wanted: readonly string[] | null,
) => Promise<Result<KeySession, Problem> | null>

const lifetimeSeconds = 15 * 60

/** Begins sessions as a browser does, by a link and its exchange, so they end with the key and follow its scopes. */
export function createKeySessions(services: {
  readonly database: Pick<Database, 'of'>
  readonly keys: Pick<Keys, 'read'>
  readonly links: Pick<ConsoleLinks, 'create' | 'exchange'>
  readonly clock: Clock
  readonly scopes: readonly string[]
}): BeginSession {
  const { database, keys, links, clock } = services
  const grantable = services.scopes.filter((scope) => scope !== managingScope && scope !== '*')
  return async ({ organizationId, apiKeyId }, wanted) => {
    // The rows that a move left here may be older than those of the database that serves the organization.
    const { rows } = await database.of(organizationId).query({
      name: 'is_served_elsewhere',
      text: `select 1 from organizations o where o.organization_id = $1 and ${isServedElsewhere('o')}`,
      values: [organizationId],
    })
    if (rows.length > 0) throw new OrganizationNotServed()
    const key = await keys.read(organizationId, apiKeyId)
    if (key === null || hasExpired(key, clock.now())) return null
    const scopes = grantable.filter(
      (scope) => grants(key.scopes, scope) && (wanted === null || grants(wanted, scope)),
    )
    if (scopes.length === 0) return fail(noScope)
    const caller = { organizationId, organizationCreatedAt: 0, apiKeyId, scopes: key.scopes }
    const link = await links.create(caller, { scopes, expiresIn: lifetimeSeconds }, '', null)
    if (link.outcome === 'refused') return fail(link.error)
    if (link.outcome !== 'done') throw new Error(`a link without a request's key was ${link.outcome}`)
    const session = await links.exchange({ link: link.value.url.split('#link=')[1] })
    if (session.outcome === 'refused') return fail(session.error)
    if (session.outcome !== 'done') throw new Error(`a link was ${session.outcome}`)
    return ok(session.value)
  }
}

const noScope = problem('insufficient_scope', 'The access token and its API key have no scope in common.')
