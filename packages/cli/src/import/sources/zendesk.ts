/**
 * Zendesk's public formats as rows of ours: users, tickets with comments or audits, ticket events with
 * `comment_events`, audits, and the names of organizations, groups and ticket fields, of pages of its API and of its
 * JSON export.
 */
import { clipped } from '@deskwire/sdk/clipped'
import {
  type Account,
  type Agent,
  type Author,
  type Comment,
  type Customer,
  commentRows,
  Fitting,
  fits,
  idOf,
  inOrder,
  isJson,
  type Json,
  type Listed,
  laterOf,
  lineOf,
  objectsIn,
  type Sort,
  textOf,
  timeOf,
} from './account.ts'

const lists: Readonly<Record<string, Sort>> = {
  users: 'person',
  tickets: 'thread',
  ticket_events: 'comments',
  audits: 'comments',
  organizations: 'names',
  groups: 'names',
  ticket_fields: 'names',
}

const statuses: Readonly<Record<string, string>> = {
  new: 'new',
  open: 'open',
  pending: 'pending',
  hold: 'on_hold',
  solved: 'resolved',
  closed: 'closed',
}

/** Web forms are answered by e-mail; what is not here is a chat of some product. */
const channels: Readonly<Record<string, string>> = {
  email: 'email',
  web: 'email',
  web_form: 'email',
  help_center: 'email',
  mobile: 'email',
  sms: 'sms',
  whatsapp: 'whatsapp',
  voice: 'phone',
  phone: 'phone',
  phone_call_inbound: 'phone',
  phone_call_outbound: 'phone',
  voicemail: 'phone',
  api: 'api',
  rule: 'api',
  any_channel: 'api',
}

/** Members of records that the mappings read; the other numbers may be anything. */
const readMembers = new Set(
  'id name email phone locale time_zone iana_time_zone external_id details notes organization_id role suspended active user_fields tags created_at updated_at requester requester_id assignee assignee_id subject raw_subject description priority type status due_at via custom_fields fields comments audits events child_events ticket_id group_id brand_id ticket_form_id problem_id custom_status_id satisfaction_rating recipient dates metric_set user ticket audit organization timestamp author_id body plain_body html_body public attachments data author'.split(
    ' ',
  ),
)
const unread = new Set(['metadata', 'photo', 'thumbnails', 'via'])

/** Which list a record outside of pages would be in. */
function listOf(record: Json): string | null {
  if (Array.isArray(record.child_events)) return 'ticket_events'
  if (Array.isArray(record.events) && record.ticket_id !== undefined) return 'audits'
  if (record.requester_id !== undefined || isJson(record.requester)) return 'tickets'
  if (Array.isArray(record.domain_names)) return 'organizations'
  if (record.role !== undefined || record.user_fields !== undefined) return 'users'
  if (record.raw_title !== undefined) return 'ticket_fields'
  return null
}

/** `{"ticket":{…}}`, as the API answers a single one. */
function unwrapped(record: Json): Json {
  const [[name, value] = ['', null], ...others] = Object.entries(record)
  return others.length === 0 && ['ticket', 'user', 'audit', 'organization'].includes(name) && isJson(value)
    ? value
    : record
}

/** Reads exports of Zendesk. */
export function zendesk(prefix: string = 'zendesk'): Account {
  const ours = (id: string) => `${prefix}-${id}`
  const agents = new Map<string, Agent>()
  /** Names of users who are no agents. */
  const users = new Map<string, string | null>()
  /** Users and agents who are in tickets alone. */
  const within = new Set<string>()
  /** Users with tickets assigned to them: those who are no agents any more left the team. */
  const assignees = new Set<string>()
  /** `organization 4`, `field 7`. */
  const names = new Map<string, string>()
  /** The requesters of tickets. */
  const tickets = new Map<string, string | null>()
  const deleted = new Set<string>()
  /** When tickets were changed that are there several times: exports repeat what changes while they run. */
  const latest = new Map<string, unknown>()
  /** Tickets of events and audits with comments. */
  const commented = new Set<string>()
  let hasComments = false
  let lacksComments = false

  const surveyUser = (user: Json) => {
    const id = idOf(user.id)
    if (id === null) return
    const name = textOf(user.name)
    if (!isAgent(user)) return void users.set(id, name)
    const email = fits('teammate', 'email', user.email) ? (user.email as string) : null
    agents.set(id, {
      id,
      name: lineOf(name ?? email ?? `Zendesk agent ${id}`),
      email,
      isActive: user.suspended !== true && user.active !== false,
      createdAt: timeOf(user.created_at),
    })
  }

  const nameOf = (sort: string, id: unknown) => names.get(`${sort} ${idOf(id)}`) ?? idOf(id)

  const authorOf = (
    id: string | null,
    requester: string | null,
    kind: Comment['kind'],
    fitting: Fitting,
  ): Author => {
    const agent = id === null ? undefined : agents.get(id)
    if (agent !== undefined && (id !== requester || kind === 'note'))
      return { type: 'teammate', agent: agent.id, name: agent.name }
    // Zendesk itself has the id -1.
    if (id === null || id.startsWith('-')) return { type: 'system' }
    const name = agent?.name ?? users.get(id) ?? null
    const named = name === null ? {} : { name: lineOf(name) }
    if (id === requester || users.has(id)) return { type: kind === 'note' ? 'system' : 'customer', ...named }
    fitting.list('changed', `its author, the user ${id}, is not in the files: it is of "system"`)
    return { type: 'system', name: `Zendesk user ${id}` }
  }

  const commentsIn = (
    given: readonly Json[],
    of: {
      readonly ticket: string
      readonly requester: string | null
      readonly at: unknown
      readonly by?: unknown
    },
  ): { comments: readonly Comment[]; listed: Listed[] } => {
    const comments: Comment[] = []
    const listed: Listed[] = []
    for (const [n, comment] of given.entries()) {
      const id = idOf(comment.id) ?? `${of.ticket}-${n + 1}`
      const fitting = new Fitting('comment', id)
      const kind = comment.public === false ? 'note' : 'message'
      const by = idOf(comment.author_id ?? (isJson(comment.author) ? comment.author.id : undefined) ?? of.by)
      const text = textOf(comment.body) ?? textOf(comment.plain_body)
      const rows = commentRows(
        {
          id,
          thread: of.ticket,
          kind,
          author: authorOf(by, of.requester, kind, fitting),
          createdAt: timeOf(comment.created_at) ?? timeOf(of.at),
          body: spoken(comment, text ?? textOf(comment.html_body)),
          contentType: text === null && textOf(comment.html_body) !== null ? 'html' : 'text',
          attachments: attachmentsOf(comment),
          externalId: ours(id),
        },
        fitting,
      )
      if (rows.length === 0)
        listed.push({
          kind: 'comment',
          id,
          outcome: 'left out',
          reason: `has no text and no attachment (ticket ${of.ticket})`,
        })
      else listed.push(...fitting.listed)
      comments.push(...rows)
    }
    return { comments: inOrder(comments), listed }
  }

  const customerRow = (user: Json, id: string): Customer => {
    const fitting = new Fitting('user', id)
    const fields = {
      externalId: ours(id),
      name: fitting.line(user.name, 'name'),
      company:
        user.organization_id == null
          ? null
          : fitting.line(names.get(`organization ${idOf(user.organization_id)}`), 'organization'),
      email: fitting.field('customer', 'email', user.email),
      phone: fitting.field('customer', 'phone', phoneOf(user.phone)),
      locale: fitting.field('customer', 'locale', user.locale),
      timezone: zoneOf(user, fitting),
      tags: fitting.tags(user.tags),
    }
    if (fields.company === null) fitting.keep('organization', idOf(user.organization_id))
    fitting.keep('externalId', user.external_id)
    fitting.keep('details', user.details)
    fitting.keep('notes', user.notes)
    if (user.suspended === true) fitting.keep('suspended', true)
    if (user.active === false) fitting.keep('deleted', true)
    for (const [name, value] of Object.entries(isJson(user.user_fields) ? user.user_fields : {}))
      fitting.keep(name, value)
    const row = { ...fields, customAttributes: fitting.attributes, ...createdAt(user) }
    return { id, row, listed: fitting.listed }
  }

  /** A customer for a requester who is none among the users. */
  const newCustomer = (ticket: Json, id: string): Customer | null => {
    if (users.has(id) && !within.has(id)) return null
    const agent = agents.get(id)
    if (agent !== undefined)
      return customerRow({ name: agent.name, email: agent.email, created_at: agent.createdAt }, id)
    const made = customerRow(isJson(ticket.requester) ? ticket.requester : {}, id)
    if (within.has(id)) return made
    const reason = 'is not in the files: a customer is made with what its ticket says'
    return { ...made, listed: [...made.listed, { kind: 'user', id, outcome: 'changed', reason }] }
  }

  return {
    prefix,
    title: 'Zendesk',
    words: { agent: 'agent', customer: 'user', thread: 'ticket' },
    wanted: 'users, tickets, ticket events, audits, organizations, groups or ticket fields of Zendesk',
    lists: new Set(Object.keys(lists)),
    sortOf: (record, list) => lists[list ?? listOf(unwrapped(record)) ?? ''] ?? null,
    survey(wrapped, sort) {
      const record = unwrapped(wrapped)
      const id = idOf(record.id)
      if (sort === 'person') {
        surveyUser(record)
        if (id !== null) within.delete(id)
      } else if (sort === 'comments') {
        const found = saidIn(record)
        const ticket = idOf(record.ticket_id)
        if (found.length > 0 && ticket !== null) commented.add(ticket)
        const isTold = objectsIn(record.child_events).some((one) => one.comment_present === true)
        lacksComments ||= isTold && found.length === 0
      } else if (sort === 'names' && id !== null) {
        const title = textOf(record.title)
        const name = title ?? textOf(record.name)
        const of =
          title !== null
            ? 'field'
            : Array.isArray(record.domain_names) || record.shared_tickets !== undefined
              ? 'organization'
              : 'group'
        if (name !== null) names.set(`${of} ${id}`, name)
      } else if (sort === 'thread' && id !== null) {
        for (const person of [record.requester, record.submitter, record.assignee]) {
          const known = isJson(person) && person.role !== undefined ? idOf(person.id) : null
          if (known === null || agents.has(known) || users.has(known)) continue
          within.add(known)
          surveyUser(person as Json)
        }
        if (tickets.has(id)) latest.set(id, record.updated_at)
        if (record.status === 'deleted') deleted.add(id)
        tickets.set(id, requesterOf(record))
        const assignee = assigneeOf(record)
        if (assignee !== null) assignees.add(assignee)
        hasComments ||= Array.isArray(record.comments) || Array.isArray(record.audits)
      }
    },
    agents() {
      for (const id of assignees) {
        const name = users.get(id)
        if (name === undefined || agents.has(id)) continue
        const former = { name: lineOf(name ?? `Zendesk agent ${id}`), email: null, isActive: false }
        agents.set(id, { id, ...former, createdAt: null })
      }
      return [...agents.values()]
    },
    customers: () => users.size,
    incomplete() {
      if (lacksComments) return 'the ticket events have no comments: export them with include=comment_events'
      if (tickets.size > 0 && agents.size + users.size === 0)
        return 'there are tickets and no users: give the export of the users too, which says who is an agent'
      if (tickets.size > 0 && !hasComments && commented.size === 0)
        return 'the tickets have no comments: give the ticket events too (exported with include=comment_events), or tickets with their comments or audits'
      return null
    },
    customerOf(wrapped) {
      const user = unwrapped(wrapped)
      const id = idOf(user.id)
      return id === null || isAgent(user) ? null : customerRow(user, id)
    },
    threadOf(wrapped) {
      const ticket = unwrapped(wrapped)
      const id = idOf(ticket.id)
      const refuse = (outcome: Listed['outcome'], reason: string): Listed => ({
        kind: 'ticket',
        id: id ?? '',
        outcome,
        reason,
      })
      if (id === null) return refuse('refused', 'has no id')
      if (latest.has(id) && latest.get(id) !== ticket.updated_at) return null
      const { status } = ticket
      if (status === 'deleted') return refuse('left out', 'is deleted in Zendesk')
      const moved =
        typeof status === 'string' && Object.hasOwn(statuses, status) ? statuses[status] : undefined
      if (moved === undefined)
        return refuse(
          'refused',
          `has the status ${JSON.stringify(status)}; known: ${Object.keys(statuses).join(', ')}, deleted`,
        )
      const customer = requesterOf(ticket)
      if (customer === null) return refuse('refused', 'has no requester')
      const fitting = new Fitting('ticket', id)
      const { at, resolvedAt, closedAt } = timesOf(ticket, moved)
      const audits = objectsIn(ticket.audits).flatMap((audit) =>
        saidIn(audit).map((said) => ({ created_at: audit.created_at, author_id: audit.author_id, ...said })),
      )
      const given = Array.isArray(ticket.comments) ? objectsIn(ticket.comments) : audits
      const said = commentsIn(given, { ticket: id, requester: customer, at: ticket.created_at })
      const title = fitting.line(textOf(ticket.subject) ?? ticket.raw_subject, 'subject')
      const originalText = textOf(ticket.description)
      const subject = title ?? lineOf(originalText?.trim().split('\n')[0] ?? `Ticket ${id}`)
      const whole = originalText === null ? null : fitting.text(originalText, 'its description')
      const hasSaid = said.comments.length > 0
      // The first comment has the same text.
      const description =
        whole === null || hasSaid
          ? whole && clipped(whole, 64_000, '')
          : fitting.cut(whole, 64_000, 'its description')
      if (!Array.isArray(ticket.comments) && !Array.isArray(ticket.audits) && !commented.has(id))
        fitting.list('changed', 'none of its comments is in the files: it has its description only')
      const channel = channelOf(ticket.via, fitting)
      const tags = fitting.tags(ticket.tags)
      const fields = {
        externalId: ours(id),
        number: fits('ticket', 'number', Number(id)) ? Number(id) : undefined,
        subject,
        description,
        status: moved,
        // Not null: it is normal by default.
        priority: fitting.field('ticket', 'priority', ticket.priority) ?? undefined,
        type: fitting.field('ticket', 'type', ticket.type),
        dueAt: timeOf(ticket.due_at),
        tags,
      }
      fitting.keep('externalId', ticket.external_id)
      fitting.keep('recipient', ticket.recipient)
      fitting.keep('group', nameOf('group', ticket.group_id))
      fitting.keep('brand', idOf(ticket.brand_id))
      fitting.keep('form', idOf(ticket.ticket_form_id))
      fitting.keep('problem', idOf(ticket.problem_id))
      fitting.keep('customStatus', idOf(ticket.custom_status_id))
      const rating = isJson(ticket.satisfaction_rating) ? ticket.satisfaction_rating : {}
      if (rating.score === 'good' || rating.score === 'bad') fitting.keep('satisfaction', rating.score)
      if (textOf(rating.comment) !== null) fitting.keep('satisfactionComment', rating.comment)
      for (const field of objectsIn(ticket.custom_fields ?? ticket.fields))
        fitting.keep(nameOf('field', field.id) ?? 'field', field.value)
      const customAttributes = fitting.attributes
      const last = said.comments
        .map(({ kind, row }) => (kind === 'message' ? String(row.createdAt) : ''))
        .reduce(laterOf, '')
      return {
        id,
        customer,
        newCustomer: newCustomer(ticket, customer),
        assignee: assigneeOf(ticket),
        conversation: {
          externalId: ours(id),
          channel,
          subject: title,
          status: resolvedAt === null ? 'open' : 'resolved',
          ...at,
          ...(resolvedAt === null ? {} : { resolvedAt }),
          ...(last > (at.createdAt ?? '') ? { lastMessageAt: last } : {}),
        },
        ticket: {
          ...without(fields, undefined),
          customAttributes,
          ...at,
          ...(resolvedAt === null ? {} : { resolvedAt }),
          ...(closedAt === null ? {} : { closedAt }),
        },
        comments: said.comments,
        listed: [...fitting.listed, ...said.listed],
      }
    },
    commentsOf(wrapped) {
      const event = unwrapped(wrapped)
      const ticket = idOf(event.ticket_id)
      const given = saidIn(event)
      if (given.length === 0 || (ticket !== null && deleted.has(ticket))) return { comments: [], listed: [] }
      const at = event.created_at ?? event.timestamp
      if (ticket !== null && tickets.has(ticket))
        return commentsIn(given, {
          ticket,
          requester: tickets.get(ticket) ?? null,
          at,
          by: event.author_id ?? event.updater_id,
        })
      const reason =
        ticket === null ? 'names no ticket' : `is of the ticket ${ticket}, which is not in the files`
      return {
        comments: [],
        listed: given.map(({ id }) => ({ kind: 'comment', id: idOf(id) ?? '', outcome: 'refused', reason })),
      }
    },
    reads: (path) => path.every((step) => !unread.has(step)) && readMembers.has(path[0] ?? ''),
  }
}

function without(row: Json, value: unknown): Json {
  return Object.fromEntries(Object.entries(row).filter(([, one]) => one !== value))
}

function isAgent({ role }: Json): boolean {
  return role === 'agent' || role === 'admin'
}

function requesterOf(ticket: Json): string | null {
  return idOf(ticket.requester_id ?? (isJson(ticket.requester) ? ticket.requester.id : undefined))
}

function assigneeOf(ticket: Json): string | null {
  return idOf(ticket.assignee_id ?? (isJson(ticket.assignee) ? ticket.assignee.id : undefined))
}

/** The comments of a ticket event or an audit. */
function saidIn(event: Json): readonly Json[] {
  const children = objectsIn(event.child_events ?? event.events)
  return children.filter(
    (one) =>
      ['Comment', 'VoiceComment'].includes(String(one.event_type ?? one.type)) &&
      ('body' in one || 'html_body' in one || 'attachments' in one),
  )
}

/** What is known of a recorded call, below the text that Zendesk has for it. */
function spoken({ data }: Json, body: string | null): string | null {
  if (!isJson(data)) return body
  const more = [textOf(data.transcription_text), textOf(data.recording_url)].filter(
    (text) => text !== null && !body?.includes(text),
  )
  return [body, ...more].filter((text) => text !== null).join('\n') || null
}

function attachmentsOf(comment: Json) {
  return objectsIn(comment.attachments).flatMap((one) => {
    const url = textOf(one.content_url) ?? textOf(one.mapped_content_url)
    if (url === null) return []
    const size = typeof one.size === 'number' && one.size >= 0 ? Math.trunc(one.size) : 0
    return [{ name: textOf(one.file_name) ?? '', type: textOf(one.content_type) ?? '', size, url }]
  })
}

function createdAt(record: Json): { createdAt?: string } {
  const at = timeOf(record.created_at)
  return at === null ? {} : { createdAt: at }
}

/** When a ticket was made, solved and closed: in this order, whatever clocks said. */
function timesOf(ticket: Json, status: string) {
  const at = createdAt(ticket)
  const [dates, metrics] = [ticket.dates, ticket.metric_set].map((one) => (isJson(one) ? one : {}))
  const isSettled = status === 'resolved' || status === 'closed'
  if (!isSettled) return { at, resolvedAt: null, closedAt: null }
  const updated = timeOf(ticket.updated_at)
  const begun = at.createdAt ?? ''
  const solved = timeOf(dates?.solved_at) ?? timeOf(metrics?.solved_at) ?? updated
  const resolvedAt = solved === null ? null : laterOf(solved, begun)
  if (status !== 'closed' || resolvedAt === null) return { at, resolvedAt, closedAt: null }
  const closed = timeOf(dates?.status_updated_at) ?? timeOf(metrics?.status_updated_at) ?? updated
  return { at, resolvedAt, closedAt: laterOf(closed ?? resolvedAt, resolvedAt) }
}

function channelOf(via: unknown, fitting: Fitting): string {
  const given = isJson(via) ? via.channel : undefined
  const known = typeof given === 'string' && Object.hasOwn(channels, given) ? channels[given] : undefined
  const channel = known ?? (given == null ? 'api' : 'chat')
  if (given !== channel) fitting.keep('channel', given)
  return channel
}

/** `+1 (555) 123-4567` is a number without what makes it readable. */
function phoneOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\+/.test(value)) return value
  const digits = value.replaceAll(/[\s().-]/g, '')
  return fits('customer', 'phone', digits) ? digits : value
}

/** Zendesk calls zones as Rails does, and by their IANA names in a second field. */
function zoneOf(user: Json, fitting: Fitting): unknown {
  if (fits('customer', 'timezone', user.iana_time_zone)) return user.iana_time_zone
  return fitting.field('customer', 'timezone', user.time_zone, 'timeZone')
}
