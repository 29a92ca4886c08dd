/**
 * Intercom's public formats as rows of ours: admins, contacts, conversations with their parts as `GET
 * /conversations/{id}` answers them, and the names of companies and tags. Admins who left are known from what they
 * wrote.
 */
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

const types: Readonly<Record<string, Sort>> = {
  admin: 'person',
  contact: 'person',
  user: 'person',
  lead: 'person',
  conversation: 'thread',
  ticket: 'thread',
  company: 'names',
  tag: 'names',
  team: 'ignored',
}

/** What is not here is a chat of some product. */
const channels: Readonly<Record<string, string>> = {
  conversation: 'chat',
  email: 'email',
  sms: 'sms',
  whatsapp: 'whatsapp',
  phone_call: 'phone',
  phone_switch: 'phone',
}

/**
 * Parts whose text the customer saw. That of any other part, such as a note or an assignment, may be for the team
 * alone.
 */
const visible = new Set(['comment', 'open', 'close', 'quick_reply', 'message'])

const customers = new Set(['user', 'lead', 'contact', 'visitor'])

/** Intercom's own bot, which early conversations have as an admin. */
const isOperator = (email: unknown) =>
  typeof email === 'string' && /^operator\+[^@]*@intercom\.io$/i.test(email)

const readMembers = new Set(
  'id external_id role type email phone name language_override custom_attributes tags companies unsubscribed_from_emails created_at updated_at title state open priority admin_assignee_id team_assignee_id source contacts conversation_parts statistics ai_agent_participated company_id data conversation_rating'.split(
    ' ',
  ),
)

/** Reads exports of Intercom. */
export function intercom(prefix: string = 'intercom'): Account {
  const ours = (id: string) => `${prefix}-${id}`
  const listed = new Map<string, Agent>()
  /** Admins who wrote or were written to, of whom some have left. */
  const authors = new Map<string, Agent>()
  let hasAdmins = false
  const contacts = new Set<string>()
  /** The contact of each e-mail address: a user before a lead. */
  const addresses = new Map<string, { readonly id: string; readonly isUser: boolean }>()
  /** `company 4`, `tag 7`. */
  const names = new Map<string, string>()

  const noteAdmin = (into: Map<string, Agent>, admin: Json, isActive: boolean) => {
    const id = idOf(admin.id)
    if (id === null || isOperator(admin.email)) return
    const email = fits('teammate', 'email', admin.email) ? (admin.email as string) : null
    const name = lineOf(textOf(admin.name) ?? email ?? `Intercom admin ${id}`)
    into.set(id, { id, name, email, isActive, createdAt: null })
  }

  const authorOf = (given: unknown, kind: Comment['kind'], isFromCustomer: boolean): Author => {
    const author = isJson(given) ? given : {}
    const name = textOf(author.name)
    const named = name === null ? {} : { name: lineOf(name) }
    const { type } = author
    if (
      author.from_ai_agent === true ||
      author.is_ai_answer === true ||
      type === 'bot' ||
      isOperator(author.email)
    )
      return { type: 'ai', ...named }
    if (type === 'admin') {
      const id = idOf(author.id) ?? ''
      const agent = listed.get(id) ?? authors.get(id)
      return agent === undefined
        ? { type: 'teammate', ...named }
        : { type: 'teammate', agent: agent.id, name: agent.name }
    }
    if (type === 'team') return { type: 'teammate', ...named }
    // Twitter leaves the author blank.
    const isCustomer = customers.has(String(type)) || (type == null && isFromCustomer)
    return { type: isCustomer && kind === 'message' ? 'customer' : 'system', ...named }
  }

  const customerRow = (contact: Json, id: string): Customer => {
    const fitting = new Fitting('contact', id)
    const tags = listIn(contact.tags, 'tags').map(
      (tag) => textOf(tag.name) ?? names.get(`tag ${idOf(tag.id)}`) ?? idOf(tag.id),
    )
    const companies = listIn(contact.companies, 'companies').map(
      (one) => textOf(one.name) ?? names.get(`company ${idOf(one.id)}`) ?? idOf(one.id),
    )
    const fields = {
      externalId: ours(id),
      name: fitting.line(contact.name, 'name'),
      company: fitting.line(companies[0], 'company'),
      email: fitting.field('customer', 'email', contact.email),
      phone: fitting.field('customer', 'phone', contact.phone),
      locale: fitting.field('customer', 'locale', contact.language_override),
      tags: fitting.tags(tags),
    }
    for (const [member, few] of [
      ['tags', tags.length],
      ['companies', companies.length],
    ] as const) {
      const of = contact[member]
      if (isJson(of) && typeof of.total_count === 'number' && of.total_count > few)
        fitting.list('changed', `has ${of.total_count} ${member}, of which its record names ${few}`)
    }
    fitting.keep('companies', companies.slice(1))
    fitting.keep('externalId', contact.external_id)
    fitting.keep('role', contact.role)
    if (contact.unsubscribed_from_emails === true) fitting.keep('unsubscribedFromEmails', true)
    keepAll(contact.custom_attributes, fitting)
    return {
      id,
      row: { ...fields, customAttributes: fitting.attributes, ...createdAt(contact) },
      listed: fitting.listed,
    }
  }

  /** A customer for a contact who is none among the contacts. */
  const newCustomer = (author: Json, id: string): Customer | null => {
    if (contacts.has(id)) return null
    const { row, listed } = customerRow(
      idOf(author.id) === id ? { name: author.name, email: author.email } : {},
      id,
    )
    const reason = 'is not in the files: a customer is made with what its conversation says'
    return { id, row, listed: [...listed, { kind: 'contact', id, outcome: 'changed', reason }] }
  }

  return {
    prefix,
    title: 'Intercom',
    words: { agent: 'admin', customer: 'contact', thread: 'conversation' },
    wanted: 'admins, contacts, conversations with their parts, companies or tags of Intercom',
    lists: new Set(['admins', 'contacts', 'users', 'conversations', 'companies', 'data', 'tags']),
    sortOf: (record) =>
      typeof record.type === 'string' && Object.hasOwn(types, record.type)
        ? (types[record.type] ?? null)
        : null,
    survey(record, sort) {
      const id = idOf(record.id)
      if (id === null) return
      if (sort === 'names') {
        const name = textOf(record.name)
        if (name !== null) names.set(`${record.type} ${id}`, name)
      } else if (sort === 'person' && record.type === 'admin') {
        hasAdmins = true
        noteAdmin(listed, record, true)
      } else if (sort === 'person') {
        contacts.add(id)
        const isUser = (record.role ?? record.type) !== 'lead'
        const address = addressOf(record)
        const first = address === null ? undefined : addresses.get(address)
        if (address !== null && (first === undefined || (isUser && !first.isUser)))
          addresses.set(address, { id, isUser })
      } else if (sort === 'thread') {
        const source = isJson(record.source) ? record.source : {}
        for (const { author } of [source, ...listIn(record.conversation_parts, 'conversation_parts')])
          if (isJson(author) && author.type === 'admin') noteAdmin(authors, author, false)
      }
    },
    agents() {
      const gone = [...authors.values()].filter(({ id }) => !listed.has(id))
      return [...listed.values(), ...gone.map((agent) => ({ ...agent, isActive: !hasAdmins }))]
    },
    customers: () => contacts.size,
    incomplete: () => null,
    customerOf(contact) {
      const id = idOf(contact.id)
      if (id === null || contact.type === 'admin') return null
      const address = addressOf(contact)
      const first = address === null ? undefined : addresses.get(address)
      return first === undefined || first.id === id ? customerRow(contact, id) : { id, same: first.id }
    },
    threadOf(conversation) {
      const id = idOf(conversation.id)
      const refuse = (reason: string): Listed => ({
        kind: 'conversation',
        id: id ?? '',
        outcome: 'refused',
        reason,
      })
      if (id === null) return refuse('has no id')
      if (conversation.type === 'ticket')
        return {
          ...refuse('tickets of Intercom are not taken: export the conversations that they began with'),
          kind: 'ticket',
        }
      if (conversation.conversation_parts === undefined)
        return refuse(
          'has no conversation_parts: lists leave them out; export it with GET /conversations/{id}',
        )
      const source = isJson(conversation.source) ? conversation.source : {}
      const author = isJson(source.author) ? source.author : {}
      const [first, ...others] = listIn(conversation.contacts, 'contacts')
        .map((one) => idOf(one.id))
        .filter((one) => one !== null)
      const customer = first ?? (customers.has(String(author.type)) ? idOf(author.id) : null)
      if (customer === null) return refuse('has no contact')
      const { state } = conversation
      if (!['open', 'closed', 'snoozed'].includes(String(state)))
        return refuse(`has the state ${JSON.stringify(state)}; known: open, closed, snoozed`)
      const fitting = new Fitting('conversation', id)
      const parts = listIn(conversation.conversation_parts, 'conversation_parts')
      const total = isJson(conversation.conversation_parts)
        ? conversation.conversation_parts.total_count
        : null
      if (typeof total === 'number' && total > parts.length)
        fitting.list('changed', `has ${total} parts, of which Intercom gives out the latest ${parts.length}`)
      const begun = {
        ...source,
        id: `${id}-source`,
        part_type: 'comment',
        created_at: conversation.created_at,
      }
      const said = [begun, ...parts].map((part) => commentOf(part, id))
      const comments = inOrder(said.flatMap((one) => one.comments))
      fitting.listed.push(...said.flatMap((one) => one.listed))
      const at = createdAt(conversation)
      const statistics = isJson(conversation.statistics) ? conversation.statistics : {}
      const closed = timeOf(statistics.last_close_at) ?? timeOf(conversation.updated_at)
      const resolved =
        state !== 'closed'
          ? {}
          : {
              status: 'resolved',
              ...(closed === null ? {} : { resolvedAt: laterOf(closed, at.createdAt ?? '') }),
            }
      const assignee = idOf(conversation.admin_assignee_id)
      const isAi =
        conversation.ai_agent_participated === true &&
        assignee === null &&
        !comments.some(({ author: { type } }) => type === 'teammate')
      const subject = fitting.line(textOf(conversation.title) ?? plainOf(textOf(source.subject)), 'subject')
      const channel = channelOf(source.type, fitting)
      if (state === 'snoozed') fitting.keep('snoozed', true)
      if (conversation.priority === 'priority') fitting.keep('priority', 'priority')
      fitting.keep('team', idOf(conversation.team_assignee_id))
      fitting.keep('otherContacts', others)
      const rating = isJson(conversation.conversation_rating) ? conversation.conversation_rating : {}
      fitting.keep('rating', rating.rating)
      fitting.keep('ratingRemark', rating.remark)
      keepAll(conversation.custom_attributes, fitting)
      const tags = fitting.tags(
        listIn(conversation.tags, 'tags').map(
          (tag) => textOf(tag.name) ?? names.get(`tag ${idOf(tag.id)}`) ?? idOf(tag.id),
        ),
      )
      const last = comments
        .map(({ kind, row }) => (kind === 'message' ? String(row.createdAt) : ''))
        .reduce(laterOf, '')
      return {
        id,
        customer,
        newCustomer: newCustomer(author, customer),
        // 0 is the assignee of nobody.
        assignee: assignee === '0' ? null : assignee,
        conversation: {
          externalId: ours(id),
          channel,
          subject,
          handledBy: isAi ? 'ai' : 'human',
          ...resolved,
          tags,
          customAttributes: fitting.attributes,
          ...at,
          ...(last > (at.createdAt ?? '') ? { lastMessageAt: last } : {}),
        },
        ticket: null,
        comments,
        listed: fitting.listed,
      }
    },
    commentsOf: () => ({ comments: [], listed: [] }),
    reads: ([first = '', second]) =>
      readMembers.has(first) && !(first === 'statistics' && second !== 'last_close_at'),
  }

  /** A part without text, such as an assignment, makes no rows, and nobody misses it. */
  function commentOf(
    part: Json,
    thread: string,
  ): { comments: readonly Comment[]; listed: readonly Listed[] } {
    const id = idOf(part.id) ?? `${thread}-part`
    const fitting = new Fitting('part', id)
    const kind = visible.has(String(part.part_type)) ? 'message' : 'note'
    const body = textOf(part.body)
    const comments = commentRows(
      {
        id,
        thread,
        kind,
        author: authorOf(part.author, kind, part.delivered_as === 'customer_initiated'),
        createdAt: timeOf(part.created_at),
        body,
        contentType: body !== null && /<[a-z!/][^>]*>|&#?\w+;/i.test(body) ? 'html' : 'text',
        attachments: attachmentsOf(part),
        externalId: ours(id),
      },
      fitting,
    )
    return { comments, listed: comments.length === 0 ? [] : fitting.listed }
  }
}

/** The elements of a list of Intercom, which is an object with a list in it. */
function listIn(value: unknown, name: string): readonly Json[] {
  if (!isJson(value)) return objectsIn(value)
  return objectsIn(value[name] ?? value.data)
}

function addressOf({ email }: Json): string | null {
  return textOf(email)?.trim().normalize('NFC').toLowerCase() ?? null
}

function createdAt(record: Json): { createdAt?: string } {
  const at = timeOf(record.created_at)
  return at === null ? {} : { createdAt: at }
}

function keepAll(attributes: unknown, fitting: Fitting): void {
  for (const [name, value] of Object.entries(isJson(attributes) ? attributes : {})) fitting.keep(name, value)
}

function attachmentsOf(part: Json) {
  return objectsIn(part.attachments).flatMap((one) => {
    const url = textOf(one.url)
    if (url === null) return []
    const size = typeof one.filesize === 'number' && one.filesize >= 0 ? Math.trunc(one.filesize) : 0
    return [{ name: textOf(one.name) ?? '', type: textOf(one.content_type) ?? '', size, url }]
  })
}

function channelOf(given: unknown, fitting: Fitting): string {
  const known = typeof given === 'string' && Object.hasOwn(channels, given) ? channels[given] : undefined
  if (known === undefined) fitting.keep('channel', given)
  return known ?? 'chat'
}

/** Subjects are HTML as bodies are. */
function plainOf(text: string | null): string | null {
  const plain = text
    ?.replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
  return textOf(plain)
}
