/** `deskwire import zendesk`: an account of a thousand tickets, compared with what arrived field by field. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../../testbed/service.ts'
import { sharedService } from '../../../../testbed/shared-service.ts'
import { storedEvents } from '../../../../testbed/stored.ts'
import { type DeskRows, importInto, type ListedRow, type Row, rowsOf } from './desk.ts'
import { agents, groups, lines, organizations, ticketFields, ticketsOf, users } from './zendesk-account.ts'

const shared = sharedService()
const directory = mkdtempSync(join(tmpdir(), 'deskwire-zendesk-'))
afterAll(() => rmSync(directory, { recursive: true }))
const iso = (time: unknown) => new Date(String(time)).toISOString()
const by = (rows: readonly Row[], field = 'externalId') => new Map(rows.map((row) => [row[field], row]))
const tickets: readonly Row[] = ticketsOf(1_000)
const alive = tickets.filter(({ status }) => status !== 'deleted')
const account = lines([
  ...tickets.slice(0, 10),
  { users: [...agents, ...users], count: 205, end_of_stream: true },
  ...organizations,
  { ticket_fields: ticketFields },
  { groups },
  { tickets: tickets.slice(10, 500), after_cursor: 'x', end_of_stream: false },
  ...tickets.slice(500),
])

describe('a thousand tickets', () => {
  let api: Api
  let path: string
  let rows: DeskRows
  let first: Awaited<ReturnType<typeof importInto>>
  let listed: ListedRow[]
  const listedOf = (kind: string, id: unknown) =>
    listed.filter((one) => one.kind === kind && one.id === String(id))

  beforeAll(async () => {
    api = await shared().newOrganization()
    path = join(directory, 'account.json')
    writeFileSync(path, account)
    first = await importInto(shared(), api, ['zendesk', path])
    listed = first.listed
    rows = await rowsOf(shared(), api)
  })

  test('counts of both sides agree, and what is listed makes exit code 3', () => {
    expect(first.code).toBe(3)
    const { read, rows: counts, listed: outcomes } = first.summary
    const comments = alive.flatMap((ticket) => ticket.comments)
    const empty = listed.filter(({ kind, outcome }) => kind === 'comment' && outcome === 'left out')
    expect(read).toEqual({ agents: 5, users: 200, tickets: 1_000, comments: comments.length - empty.length })
    expect(counts.ticket).toEqual({ created: alive.length, present: 0, refused: 0 })
    expect(counts.conversation).toEqual({ created: alive.length, present: 0, refused: 1_000 - alive.length })
    for (const [kind, plural] of [
      ['teammate', 'teammates'],
      ['customer', 'customers'],
      ['message', 'messages'],
      ['note', 'notes'],
    ] as const)
      expect([kind, counts[kind].created]).toEqual([kind, rows[plural].length])
    expect(outcomes.refused).toBe(0)
    expect(outcomes['left out'] + outcomes.changed).toBe(listed.length)
  })

  test('agents are teammates, inactive where they are suspended or deleted', () => {
    const shown = rows.teammates
      .map(({ name, email, active, createdAt }) => [name, email, active, createdAt])
      .sort()
    expect(shown).toEqual(
      agents
        .map(({ name, email, active, suspended, created_at }) => [
          name,
          typeof email === 'string' ? email.toLowerCase() : null,
          active === true && suspended !== true,
          iso(created_at),
        ])
        .sort(),
    )
  })

  test('users are customers, with each of their fields', () => {
    const found = by(rows.customers)
    expect(found.size).toBe(206)
    for (const user of users) {
      const row = found.get(`zendesk-${user.id}`) as Row
      const fields = user as Row
      const { customAttributes } = row
      expect(row.createdAt).toBe(iso(user.created_at))
      expect(row.email).toBe(fields.email?.toLowerCase() ?? null)
      if (fields.name?.length === 300) {
        expect([row.name, customAttributes.name]).toEqual([`${'n'.repeat(254)}…`, fields.name])
      } else expect(row.name).toBe(fields.name)
      const phone = { '+1 (555) 123-4567': '+15551234567', '555 123': null, '': null }[fields.phone as string]
      expect(row.phone).toBe(phone === undefined ? fields.phone : phone)
      expect(customAttributes.phone).toBe(fields.phone === '555 123' ? '555 123' : undefined)
      expect(row.locale).toBe(fields.locale === 'pt-br' ? 'pt-BR' : fields.locale)
      const zone = fields.iana_time_zone ?? (fields.time_zone === 'Europe/Berlin' ? fields.time_zone : null)
      expect(row.timezone).toBe(zone)
      expect(customAttributes.timeZone).toBe(zone === null ? fields.time_zone : undefined)
      const company =
        { 71: 'Analytical Engines', 72: 'Compilers & Söhne' }[fields.organization_id as number] ?? null
      expect(row.company).toBe(company)
      expect(customAttributes.organization).toBe(fields.organization_id === 79 ? '79' : undefined)
      expect(customAttributes.externalId).toBe(fields.external_id ?? undefined)
      expect(customAttributes.details).toBe(fields.details?.slice(0, 500) || undefined)
      expect(customAttributes.notes).toBe(fields.notes || undefined)
      expect(customAttributes.suspended).toBe(fields.suspended || undefined)
      expect(customAttributes.deleted).toBe(fields.active ? undefined : true)
      const { plan, seats, is_partner, since, rate } = fields.user_fields
      expect(customAttributes).toMatchObject({
        seats,
        is_partner,
        since,
        rate,
        ...(plan === null ? {} : { plan }),
      })
      const fitting = fields.tags.filter((tag: string) => tag.length <= 50).slice(0, 50)
      expect(row.tags).toEqual(fitting)
      const lost = [fields.tags.length > fitting.length, fields.details?.length > 500].filter(Boolean).length
      expect([user.id, listedOf('user', user.id).length]).toEqual([user.id, lost])
    }
  })

  test('deleted tickets are left out and listed; every other one is there with each of its fields', () => {
    const found = by(rows.tickets)
    const conversations = by(rows.conversations)
    const teammates = by(rows.teammates, 'name')
    const customers = by(rows.customers)
    expect([found.size, conversations.size]).toEqual([alive.length, alive.length])
    const statuses: Row = { hold: 'on_hold', solved: 'resolved' }
    const states: Row = { 901: 'Agent 901', 902: 'Agent 902', 903: 'Agent 903', 904: 'Agent 904' }
    for (const ticket of tickets) {
      const { id, status, subject, description, assignee_id: assignee } = ticket
      const row = found.get(`zendesk-${id}`)
      if (status === 'deleted') {
        expect(row).toBeUndefined()
        expect(listedOf('ticket', id)).toMatchObject([
          { outcome: 'left out', error: 'is deleted in Zendesk' },
        ])
        continue
      }
      const customer = customers.get(`zendesk-${ticket.requester_id}`)
      const conversation = conversations.get(`zendesk-${id}`)
      const own = typeof subject === 'string' && subject.trim() !== '' ? subject : null
      const shown = own ?? ((description as string).split('\n')[0] || `Ticket ${id}`)
      const cut = shown.length > 255
      const isSettled = status === 'solved' || status === 'closed'
      // New tickets are nobody's here.
      const moved = status === 'new' && states[assignee] !== undefined ? 'open' : (statuses[status] ?? status)
      const resolvedAt = isSettled ? iso(ticket.dates?.solved_at ?? ticket.updated_at) : null
      expect(row).toMatchObject({
        customerId: customer?.id,
        conversationId: conversation?.id,
        number: id,
        status: moved,
        priority: ticket.priority ?? 'normal',
        type: ticket.type,
        assigneeId: teammates.get(states[assignee])?.id ?? null,
        dueAt: ticket.due_at === null ? null : iso(ticket.due_at),
        createdAt: iso(ticket.created_at),
        resolvedAt,
        closedAt: status === 'closed' ? iso(ticket.dates?.status_updated_at ?? ticket.updated_at) : null,
        tags: ticket.tags,
        description: description === '' ? null : description.slice(0, 64_000),
      })
      if (cut) expect([row?.subject.length, row?.subject.slice(0, 254)]).toEqual([255, shown.slice(0, 254)])
      else expect(row?.subject).toBe(shown)
      const attributes = row?.customAttributes
      expect(attributes.subject).toBe(cut && own !== null ? own.slice(0, 500) : undefined)
      expect(attributes.externalId).toBe(ticket.external_id ?? undefined)
      expect(attributes.recipient).toBe(ticket.recipient ?? undefined)
      expect(attributes.group).toBe({ 81: 'Billing', 82: '82' }[ticket.group_id as number])
      expect([attributes.brand, attributes.form, attributes.problem, attributes.customStatus]).toEqual([
        '3',
        ...[ticket.ticket_form_id, ticket.problem_id, ticket.custom_status_id].map((one) =>
          one === null ? undefined : String(one),
        ),
      ])
      const { score, comment } = ticket.satisfaction_rating ?? {}
      expect(attributes.satisfaction).toBe(['good', 'bad'].includes(score) ? score : undefined)
      expect(attributes.satisfactionComment).toBe(comment)
      for (const [n, name] of ['Product', 'Regions', '99'].entries()) {
        const { value } = ticket.custom_fields[n]
        const flat = Array.isArray(value)
          ? value.join(', ')
          : typeof value === 'string'
            ? value.slice(0, 500) || undefined
            : (value ?? undefined)
        expect([id, name, attributes[name]]).toEqual([id, name, flat])
      }
      expect(conversation).toMatchObject({
        customerId: customer?.id,
        subject: own === null ? null : row?.subject,
        status: isSettled ? 'resolved' : 'open',
        resolvedAt,
        createdAt: iso(ticket.created_at),
        assigneeId: row?.assigneeId,
      })
      const channel: string =
        { whatsapp: 'whatsapp', sms: 'sms', api: 'api', rule: 'api', any_channel: 'api' }[
          ticket.via.channel as string
        ] ??
        (/^(web|email|mobile|help_center)$/.test(ticket.via.channel)
          ? 'email'
          : /^(voice|phone)/.test(ticket.via.channel)
            ? 'phone'
            : 'chat')
      expect(conversation?.channel).toBe(channel)
      expect(attributes.channel).toBe(channel === ticket.via.channel ? undefined : ticket.via.channel)
    }
  })

  test('public comments are messages, private ones are notes, whole and by who wrote them', () => {
    const names = new Map([...agents, ...users].map(({ id, name }) => [id, name]))
    const agentIds = new Map(
      agents.map(({ id, name }) => [id, rows.teammates.find((one) => one.name === name)?.id]),
    )
    const messages = new Map<string, Row[]>()
    for (const row of rows.messages) {
      const key = row.externalId.replace(/^(zendesk-\d+)-\d+$/, '$1')
      messages.set(key, [...(messages.get(key) ?? []), row])
    }
    const notes = new Map<string, Row[]>()
    for (const row of rows.notes)
      notes.set(row.conversationId, [...(notes.get(row.conversationId) ?? []), row])
    const conversations = by(rows.conversations)
    for (const ticket of alive) {
      const conversation = conversations.get(`zendesk-${ticket.id}`)
      const private_: Row[] = []
      for (const comment of ticket.comments as Row[]) {
        const { id, author_id: author } = comment
        const isAgent = agentIds.has(author) && (author !== ticket.requester_id || !comment.public)
        const isKnown = names.has(author) || author === ticket.requester_id
        const type = isAgent
          ? 'teammate'
          : author === -1 || !isKnown || !comment.public
            ? 'system'
            : 'customer'
        const found = (comment.public ? messages.get(`zendesk-${id}`) : []) ?? []
        const said = [
          comment.body || comment.html_body,
          comment.data?.transcription_text,
          comment.data?.recording_url,
        ]
          .filter(Boolean)
          .join('\n')
        if (comment.public === false)
          private_.push({ author: type, said, comment, agentId: isAgent ? agentIds.get(author) : undefined })
        else if (said === '' && comment.attachments.length === 0) {
          expect(found).toEqual([])
          expect(listedOf('comment', id)).toMatchObject([{ outcome: 'left out' }])
        } else {
          const sorted = [...found].sort((a, b) => a.externalId.length - b.externalId.length)
          const links = sorted[0]?.attachments as Row[]
          const given = comment.attachments as Row[]
          const body = sorted.map((one) => one.body ?? '').join('')
          const rest = given.slice(15).map((one) => `${one.file_name}: ${one.content_url}`)
          expect(body).toBe([said, ...rest].filter(Boolean).join('\n'))
          expect(
            links.map(({ fileName, url, sizeBytes, contentType }) => [fileName, url, sizeBytes, contentType]),
          ).toEqual(
            given
              .slice(0, 15)
              .map((one) => [
                one.file_name.length > 255 ? `${one.file_name.slice(0, 254)}…` : one.file_name,
                one.content_url,
                one.size ?? 0,
                one.content_type || 'application/octet-stream',
              ]),
          )
          for (const [n, message] of sorted.entries()) {
            const at = new Date(Date.parse(comment.created_at) + n).toISOString()
            expect(message.conversationId).toBe(conversation?.id)
            expect([message.createdAt, message.sentAt]).toEqual([at, at])
            expect([id, message.author.type]).toEqual([id, type])
            expect(message.direction).toBe(type === 'customer' ? 'inbound' : 'outbound')
            expect(message.author.id).toBe(isAgent ? agentIds.get(author) : undefined)
            expect(message.contentType).toBe(comment.body || comment.attachments.length > 0 ? 'text' : 'html')
          }
          const name = names.get(author) as string | null | undefined
          if (author !== -1 && isKnown && name)
            expect(sorted[0]?.author.name).toBe(name.length > 255 ? `${name.slice(0, 254)}…` : name)
          if (!isKnown && author !== -1)
            expect(listedOf('comment', id)).toMatchObject([{ outcome: 'changed' }])
        }
      }
      const there = notes.get(conversation?.id) ?? []
      const text = (one: readonly string[]) => [...one].sort().join('')
      expect(text(there.map((note) => note.body))).toHaveLength(
        private_.reduce(
          (sum, { said, comment }) =>
            sum +
            said.length +
            (comment.attachments as Row[]).reduce(
              (more, one) => more + 1 + `${one.file_name}: ${one.content_url}`.length,
              0,
            ),
          0,
        ),
      )
      for (const { said, comment, author, agentId } of private_) {
        const own = there.filter((note) => note.createdAt === iso(comment.created_at))
        expect(own[0]?.author).toMatchObject({
          type: author,
          ...(agentId === undefined ? {} : { id: agentId }),
        })
        expect(own.some(({ body }) => body.startsWith(said.slice(0, 60_000)))).toBe(true)
      }
    }
    const last = new Map<string, string>()
    for (const { conversationId, sentAt } of rows.messages)
      if (sentAt > (last.get(conversationId) ?? '')) last.set(conversationId, sentAt)
    for (const { id, lastMessageAt } of rows.conversations) expect(lastMessageAt).toBe(last.get(id) ?? null)
  })

  test('sends no event', async () => {
    expect(await storedEvents(shared(), api.organizationId)).toEqual([])
  })

  test('a second run and a rehearsal list the same, and change nothing', async () => {
    const again = await importInto(shared(), api, ['zendesk', path])
    expect(again.code).toBe(3)
    for (const { created, refused } of Object.values(again.summary.rows) as Row[])
      expect([created, refused === 0 || refused === 1_000 - alive.length]).toEqual([0, true])
    expect(await rowsOf(shared(), api)).toEqual(rows)
    expect(again.listed).toEqual(listed)
    const rehearsed = await importInto(shared(), api, ['zendesk', path, '--dry-run'])
    expect([rehearsed.code, rehearsed.listed]).toEqual([3, listed])
    expect(rehearsed.summary).toMatchObject({ dryRun: true, read: first.summary.read })
    for (const kind of Object.keys(first.summary.rows))
      expect([kind, rehearsed.summary.rows[kind]]).toEqual([kind, first.summary.rows[kind]])
    expect(await rowsOf(shared(), api)).toEqual(rows)
  })
})
