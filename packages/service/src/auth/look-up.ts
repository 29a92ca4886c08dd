/**
 * From a presented token to who is calling. Asked again for every request, so that a revocation counts at once, in
 * every process.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Pool } from 'pg'
import {
  arrayParameter,
  hiddenArray,
  milliseconds,
  type PreparedStatement,
  queryText,
  type TextRow,
} from '../db/text-query.ts'
import { coalesce } from '../kernel/coalesce.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { grants } from './scopes.ts'
import { hashToken, isToken } from './token.ts'

/** Who a request comes from. */
export interface Caller {
  readonly organizationId: string
  /** Milliseconds since the Unix epoch: a watermark earlier than this marks a first sync. */
  readonly organizationCreatedAt: number
  readonly apiKeyId: string
  readonly scopes: readonly string[]
  /** The console link that began the session, where a session calls and not its key. */
  readonly sessionId?: string
  /** The place of its database among several (`databases/router.ts`); nothing where there is one. */
  readonly shard?: number
}

/** Whom a token belongs to. */
export type Lookup =
  | { readonly outcome: 'authenticated'; readonly caller: Caller }
  /** Never made here, revoked, or mistyped. */
  | { readonly outcome: 'unknown' }
  /** The key has expired. */
  | { readonly outcome: 'expired' }
  /** The key lives, but this token of it was replaced, and its time is over. */
  | { readonly outcome: 'replaced' }
  /** The session of the console is over. */
  | { readonly outcome: 'ended' }
  /** The key lives, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly caller: Caller }

/** The same in one of several databases, which may be the wrong one: the organization lives in another. */
export type TokenLookup = Lookup | { readonly outcome: 'elsewhere' }

/** Finds keys by their tokens, and nothing else. */
export type LookUp = (token: string) => Promise<Lookup>

interface Found {
  readonly caller: Caller
  readonly tokenExpiresAt: number | null
  readonly keyExpiresAt: number | null
  readonly suspended: boolean
  readonly elsewhere: boolean
}

/** Looks tokens up in the database; those that are asked for at the same time, together. */
export function createLookUp(pool: Pool, clock: Clock): (token: string) => Promise<TokenLookup> {
  /** Of the tokens in this table, `d`. */
  const statementFor = (name: string, directory: string, session = '', only = '') => ({
    name,
    text: `select encode(d.token_hash, 'hex') as token_hash, d.organization_id, ${milliseconds('o.created_at')} as organization_created_at,
             d.api_key_id, array_to_json(k.scopes) as scopes, ${milliseconds('d.expires_at')} as token_expires_at,
             ${milliseconds('k.expires_at')} as key_expires_at,
             case when o.suspended_at is not null then true end as suspended,
             case when o.away in ('arriving', 'moved') then true end as elsewhere${session}
           from ${directory}
           join api_keys k on k.organization_id = d.organization_id and k.id = d.api_key_id
           join organizations o on o.organization_id = d.organization_id
           where d.token_hash = any(${hiddenArray('$1', 'bytea')})${only}`,
  })
  const find = finder(pool, statementFor('recognize_tokens', 'api_key_tokens d'))
  const session = ', d.id as session_id, array_to_json(d.scopes) as session_scopes'
  const findSession = finder(
    pool,
    statementFor('recognize_sessions', 'console_links d', session, ' and d.exchanged_at is not null'),
  )

  return async (token) => {
    const isSession = isToken(token, 'session')
    if (!isSession && !isToken(token)) return { outcome: 'unknown' }
    const found = await (isSession ? findSession : find)(hashToken(token))
    if (found === null) return { outcome: 'unknown' }
    if (found.elsewhere) return { outcome: 'elsewhere' }
    const isOver = (at: number | null) => at !== null && at <= clock.now()
    if (isOver(found.keyExpiresAt)) return { outcome: isSession ? 'ended' : 'expired' }
    if (isOver(found.tokenExpiresAt)) return { outcome: isSession ? 'ended' : 'replaced' }
    return { outcome: found.suspended ? 'suspended' : 'authenticated', caller: found.caller }
  }
}

/** Finds what such a statement has of hashes; those that are asked for at the same time, together. */
function finder(pool: Pool, statement: PreparedStatement) {
  return coalesce(async (hashes: readonly string[]): Promise<(Found | null)[]> => {
    const bytes = [...new Set(hashes)].map((hash) => `\\x${hash}`)
    const rows = await queryText(pool, statement, [arrayParameter(bytes)])
    const found = new Map(rows.map((row) => [row[0], foundIn(row)]))
    return hashes.map((hash) => found.get(hash) ?? null)
  })
}

function foundIn(columns: TextRow): Found {
  const [
    ,
    organizationId,
    createdAt,
    apiKeyId,
    scopes,
    tokenExpiresAt,
    keyExpiresAt,
    suspended,
    elsewhere,
    sessionId,
    own,
  ] = columns
  const held = readJson(String(scopes)) as string[]
  const time = (text: string | null | undefined) => (text == null ? null : Number(text))
  return {
    caller: {
      organizationId: String(organizationId),
      organizationCreatedAt: Number(createdAt),
      apiKeyId: String(apiKeyId),
      // A session can do what it was made for, as far as its key still can.
      scopes: own == null ? held : (readJson(own) as string[]).filter((scope) => grants(held, scope)),
      ...(sessionId == null ? {} : { sessionId }),
    },
    tokenExpiresAt: time(tokenExpiresAt),
    keyExpiresAt: time(keyExpiresAt),
    suspended: suspended != null,
    elsewhere: elsewhere != null,
  }
}
