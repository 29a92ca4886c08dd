/** Finds the caller of a token, for every request, so that a revocation takes effect at once in every process. */
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

/** The key or session that sent the request. */
export interface Caller {
  readonly organizationId: string
  /** Milliseconds since the Unix epoch. An earlier watermark begins a first sync. */
  readonly organizationCreatedAt: number
  readonly apiKeyId: string
  readonly scopes: readonly string[]
  /** The console link that began the session; absent when the key itself calls. */
  readonly sessionId?: string
  /** The index of the organization's database (`databases/router.ts`); absent when there is only one. */
  readonly shard?: number
}

export type Lookup =
  | { readonly outcome: 'authenticated'; readonly caller: Caller }
  /** Not a token of this installation, revoked, or mistyped. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'expired' }
  /** The key is valid, but this token was replaced and its overlap has ended. */
  | { readonly outcome: 'replaced' }
  /** The console session has ended. */
  | { readonly outcome: 'ended' }
  /** The key is valid, but its organization is suspended. */
  | { readonly outcome: 'suspended'; readonly caller: Caller }

/** `elsewhere`: another database serves the organization. */
export type TokenLookup = Lookup | { readonly outcome: 'elsewhere' }

export type LookUp = (token: string) => Promise<Lookup>

interface Found {
  readonly caller: Caller
  readonly tokenExpiresAt: number | null
  readonly keyExpiresAt: number | null
  readonly suspended: boolean
  readonly elsewhere: boolean
}

/** Concurrent look-ups share a query. */
export function createLookUp(pool: Pool, clock: Clock): (token: string) => Promise<TokenLookup> {
  /** The statement that looks up tokens in this table, `d`. */
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

/** Runs such a statement for hashes; concurrent look-ups share a query. */
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
      // A session has the scopes it was created with, as far as its key still has them.
      scopes: own == null ? held : (readJson(own) as string[]).filter((scope) => grants(held, scope)),
      ...(sessionId == null ? {} : { sessionId }),
    },
    tokenExpiresAt: time(tokenExpiresAt),
    keyExpiresAt: time(keyExpiresAt),
    suspended: suspended != null,
    elsewhere: elsewhere != null,
  }
}
