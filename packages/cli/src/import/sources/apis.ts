/** What to ask the APIs of Zendesk and Intercom for, as they document it. */
import { UsageError } from '../../usage-error.ts'
import { idOf, isJson, type Json, objectsIn, textOf } from './account.ts'
import type { Api, Series } from './download.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Time-based and cursor-based incremental exports, and lists with cursors. */
export function zendeskApi(origin: string, environment: Environment): Api {
  const { ZENDESK_EMAIL: email, ZENDESK_API_TOKEN: token, ZENDESK_OAUTH_TOKEN: oauth } = environment
  const isBasic = Boolean(email && token)
  if (!isBasic && !oauth)
    throw new UsageError(
      'set ZENDESK_EMAIL and ZENDESK_API_TOKEN of an administrator, or ZENDESK_OAUTH_TOKEN',
    )
  const basic = Buffer.from(`${email}/token:${token}`).toString('base64')
  return {
    origin,
    headers: { accept: 'application/json', authorization: isBasic ? `Basic ${basic}` : `Bearer ${oauth}` },
    credentials: isBasic ? 'ZENDESK_EMAIL and ZENDESK_API_TOKEN' : 'ZENDESK_OAUTH_TOKEN',
    series: [
      byTime('organizations', '', true),
      listed('groups'),
      listed('ticket_fields'),
      byCursor('users', ''),
      byCursor('tickets', '&include=dates'),
      byTime('ticket_events', '&include=comment_events'),
    ],
  }
}

function byCursor(name: string, more: string): Series {
  const path = `/api/v2/incremental/${name}/cursor.json`
  return {
    name,
    first: `${path}?start_time=0${more}`,
    next(page) {
      const cursor = textOf(page.after_cursor)
      return page.end_of_stream === true || cursor === null
        ? null
        : `${path}?cursor=${encodeURIComponent(cursor)}${more}`
    },
  }
}

/** Pages repeat what changed in the second at which they end. */
function byTime(name: string, more: string, isOptional = false): Series {
  const path = `/api/v2/incremental/${name}.json`
  return {
    name,
    isOptional,
    first: `${path}?start_time=0${more}`,
    next(page) {
      const end = idOf(page.end_time)
      return page.end_of_stream === true || end === null ? null : `${path}?start_time=${end}${more}`
    },
  }
}

function listed(name: string): Series {
  const path = `/api/v2/${name}.json?page[size]=100`
  return {
    name,
    isOptional: true,
    first: path,
    next({ meta }) {
      const cursor = isJson(meta) && meta.has_more === true ? textOf(meta.after_cursor) : null
      return cursor === null ? null : `${path}&page[after]=${encodeURIComponent(cursor)}`
    },
  }
}

/** Lists, and each conversation by itself, as lists leave out its parts. */
export function intercomApi(origin: string, { INTERCOM_TOKEN: token }: Environment): Api {
  if (!token) throw new UsageError('set INTERCOM_TOKEN, an access token of the workspace')
  return {
    origin,
    headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'intercom-version': '2.14' },
    credentials: 'INTERCOM_TOKEN',
    series: [
      { name: 'admins', first: '/admins', next: () => null },
      { name: 'tags', isOptional: true, first: '/tags', next: () => null },
      {
        name: 'companies',
        isOptional: true,
        first: '/companies/scroll',
        next(page) {
          const scroll = textOf(page.scroll_param)
          if (scroll === null || objectsIn(page.data).length === 0) return null
          return `/companies/scroll?scroll_param=${encodeURIComponent(scroll)}`
        },
      },
      {
        name: 'contacts',
        first: '/contacts?per_page=150',
        next: (page) => after('/contacts?per_page=150', page),
      },
      {
        name: 'conversations',
        first: '/conversations?per_page=150',
        next: (page) => after('/conversations?per_page=150', page),
        instead: (page) =>
          objectsIn(page.conversations).flatMap(({ id }) => {
            const given = idOf(id)
            return given === null ? [] : [`/conversations/${encodeURIComponent(given)}`]
          }),
      },
    ],
  }
}

function after(path: string, { pages }: Json): string | null {
  const next = isJson(pages) && isJson(pages.next) ? textOf(pages.next.starting_after) : null
  return next === null ? null : `${path}&starting_after=${encodeURIComponent(next)}`
}
