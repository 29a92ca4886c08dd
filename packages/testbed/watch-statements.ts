/** Every statement of a test's API names exactly one organization, or is an exception. */
import type { Pool } from 'pg'
import { type Naming, namingOf } from './named-organization.ts'

/**
 * Statements that name no organization, or several, by their beginnings, with the reason. They go to every database, or
 * to one for several of its organizations (decision 65).
 */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'finds the organization of a token': [
    "select encode(d.token_hash, 'hex') as token_hash, d.organization_id,",
  ],
  'finds the organization of a link, and replaces the hash in the same statement': [
    'update console_links c set token_hash = $3, exchanged_at = $2',
    'select 1 from console_links c, api_keys k where c.token_hash = $1',
  ],
  'for all organizations of one database that ask at the same time': [
    'select t.organization_id, t.id, t.body,',
    'select commit(c.organization_id, $1,',
    'select c.organization_id, c.last_stamp from clocks c',
  ],
  'maintenance: finds what is due, and goes on by organization': [
    'select e.organization_id, e.subject_id, e.removed_at <= $1 as settled from erasures e',
    'select e.organization_id, e.subject_id, e.removed_id, e.field from erasures e',
    'select k.organization_id, k.api_key_id, k.method, k.path, k.key, k.created_at from idempotency_keys k',
    'select e.organization_id, e.subject_id as webhook_id from erasures e',
    'select r.organization_id, r.webhook_id, r.id from delivery_jobs r',
    'select t.organization_id, t.id from events_default t',
    'select distinct t.organization_id, t.delivery_id from attempts_default t',
    'select t.organization_id, t.webhook_id, t.id from deliveries_default t',
    'select c.organization_id, c.kind',
    'select c.organization_id, e.id from organization_clocks c',
    'select c.organization_id, c.id from console_links c',
    'select r.organization_id, r.id from revoked_api_keys r',
    'select w.organization_id, w.id from webhooks w where w.ends_at <= $1',
    "select w.organization_id, w.id from webhooks w where w.status = 'active' and w.options ? 'paused'",
    'select s.organization_id as "organizationId", s.rows, s.bytes',
    'select t.organization_id, t.webhook_id, t.minutes, t.at from delivery_stats_default t',
  ],
  'maintenance: a new week takes over the rows of all that were written before it was made': [
    'events',
    'deliveries',
    'attempts',
    'delivery_stats',
  ].map((table) => `with gone as (delete from only ${table}_default t`),
  'maintenance: what is still needed of a week that is dropped': ['events', 'deliveries', 'attempts'].flatMap(
    (table) => [`insert into ${table}_default (`, `insert into ${table}_2`],
  ),
  'metrics of a database': [
    'select (select count(*)::int from',
    'select count(*)::int as count from (select',
    'with stored as materialized (',
  ],
}
const begins = Object.values(exceptions).flat()

interface SeenStatements {
  /** Statements that are neither of one organization nor excepted. */
  readonly unnamed: ReadonlySet<string>
}

/** The same pool, and what was seen of it. */
export function watchStatements(pool: Pool): { readonly pool: Pool; readonly seen: SeenStatements } {
  const unnamed = new Set<string>()
  const look = (text: string, values: readonly unknown[]) => {
    const wrong = wrongWith(text, values)
    if (wrong !== null) unnamed.add(`${wrong}: ${text.replace(/\s+/g, ' ').slice(0, 300)}`)
  }
  const watched = Object.assign(Object.create(pool) as Pool, {
    query: (...call: unknown[]) => Reflect.apply(pool.query, pool, asked(call, look)),
    connect: async () => {
      const client = await pool.connect()
      return new Proxy(client, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (property === 'query')
            return (...call: unknown[]) => Reflect.apply(target.query, target, asked(call, look))
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  })
  return { pool: watched, seen: { unnamed } }
}

type Look = (text: string, values: readonly unknown[]) => void

/** Checked when there is a connection. */
function asked(call: unknown[], look: Look): unknown[] {
  const [query, values] = call as [unknown, unknown[] | undefined]
  if (typeof query === 'string') look(query, values ?? [])
  else if (typeof (query as Partial<Submitted>).submit !== 'function') {
    const { text, values: own = values } = query as { text: string; values?: unknown[] }
    look(text, own ?? [])
  } else if ('values' in (query as object)) {
    const { text, values: own } = query as { text: string; values?: unknown[] }
    look(text, own ?? [])
  } else lookWhenSent(query as Submitted, look)
  return call
}

interface Submitted {
  readonly text: string
  submit(connection: Connection): unknown
}

interface Connection {
  bind(config: { readonly values: readonly unknown[] }, more: boolean): void
}

function lookWhenSent(query: Submitted, look: Look): void {
  const { submit } = query
  query.submit = function (this: Submitted, connection) {
    const { bind } = connection
    let sent: readonly unknown[] = []
    connection.bind = (config, more) => {
      sent = config.values
      Reflect.apply(bind, connection, [config, more])
    }
    try {
      return Reflect.apply(submit, query, [connection])
    } finally {
      Reflect.deleteProperty(connection, 'bind')
      look(query.text, sent)
    }
  }
}

const known = new Map<string, Naming | 'excepted'>()

/** Null: nothing. */
function wrongWith(text: string, values: readonly unknown[]): string | null {
  let naming = known.get(text)
  if (naming === undefined) {
    const words = text
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/_[0-9a-f]{12}/g, '')
      .trim()
    naming = begins.some((begin) => words.startsWith(begin)) ? 'excepted' : namingOf(text)
    known.set(text, naming)
  }
  if (naming === 'excepted') return null
  if (naming.unnamed.length > 0) return `no organization is named for ${naming.unnamed.join(', ')}`
  const named = new Set(naming.parameters.map((n) => String(values[n - 1])))
  return named.size > 1 ? 'several organizations are named' : null
}
