/** `deskwire import intercom`: a workspace of a thousand conversations, compared with what arrived field by field. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../../testbed/service.ts'
import { sharedService } from '../../../../testbed/shared-service.ts'
import { storedEvents } from '../../../../testbed/stored.ts'
import { type DeskRows, importInto, type ListedRow, type Row, rowsOf } from './desk.ts'
import { admins, companies, contacts, conversationsOf, tags } from './intercom-account.ts'
import { lines } from './zendesk-account.ts'

const shared = sharedService()
const directory = mkdtempSync(join(tmpdir(), 'deskwire-intercom-'))
afterAll(() => rmSync(directory, { recursive: true }))
const iso = (seconds: number) => new Date(seconds * 1_000).toISOString()
const by = (rows: readonly Row[], field = 'externalId') => new Map(rows.map((row) => [row[field], row]))
const conversations: readonly Row[] = conversationsOf(1_000)
const files: Record<string, string> = {
  'conversations.ndjson': lines(conversations),
  'admins.json': JSON.stringify({ type: 'admin.list', admins }),
  'contacts.json': JSON.stringify(
    {
      type: 'list',
      data: contacts,
      total_count: 150,
      pages: { type: 'pages', page: 1, per_page: 150, total_pages: 1 },
    },
    null,
    2,
  ),
  'names.json': lines([
    { type: 'list', data: tags },
    { type: 'list', data: companies, scroll_param: 'x' },
  ]),
}
/** Contacts who have the address of another. */
const doubles: readonly Row[] = contacts.filter((_, n) => n % 30 === 29 && contacts[n - 1]?.email != null)
describe('a thousand conversations', () => {
  let api: Api
  let words: string[]
  let rows: DeskRows
  let first: Awaited<ReturnType<typeof importInto>>
  let listed: ListedRow[]
  const listedOf = (kind: string, id: unknown) =>
    listed.filter((one) => one.kind === kind && one.id === String(id))
  const withoutContact = conversations.filter((one) => one.contacts.contacts.length === 0)

  beforeAll(async () => {
    api = await shared().newOrganization()
    words = ['intercom', ...Object.keys(files).map((name) => join(directory, name))]
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
    first = await importInto(shared(), api, words)
    listed = first.listed
    rows = await rowsOf(shared(), api)
  })

  test('counts of both sides agree', () => {
    expect(first.code).toBe(3)
    expect(withoutContact.length).toBeGreaterThan(0)
    const { read, rows: counts, listed: outcomes } = first.summary
    expect(read).toMatchObject({ admins: 3, contacts: 150, conversations: 1_000 })
    expect(counts.conversation).toEqual({
      created: 1_000 - withoutContact.length,
      present: 0,
      refused: withoutContact.length,
    })
    expect(counts.customer).toEqual({ created: 160 - doubles.length, present: doubles.length, refused: 0 })
    for (const [kind, plural] of [
      ['teammate', 'teammates'],
      ['customer', 'customers'],
      ['message', 'messages'],
      ['note', 'notes'],
    ] as const)
      expect([kind, counts[kind].created]).toEqual([kind, rows[plural].length])
    expect(outcomes.refused).toBe(withoutContact.length)
    expect(outcomes['left out']).toBe(0)
  })

  test('admins are teammates; who has left and wrote is an inactive one; the bot is none', () => {
    expect(rows.teammates.map(({ name, email, active }) => [name, email, active]).sort()).toEqual([
      ['Former Admin', 'former@desk.example', false],
      ['Grace Hopper', 'grace@desk.example', true],
      ['Konrad Zuse', 'konrad@desk.example', true],
    ])
  })

  test('users and leads are customers, with each of their fields; one address makes one customer', () => {
    const found = by(rows.customers)
    for (const contact of contacts as readonly Row[]) {
      const row = found.get(`intercom-${contact.id}`) as Row
      if (doubles.includes(contact)) {
        expect(row).toBeUndefined()
        expect(listedOf('contact', contact.id)).toMatchObject([
          { outcome: 'changed', error: expect.stringMatching(/^has the e-mail address of 5f\d+: /) },
        ])
        continue
      }
      const { customAttributes } = row
      const isLong = contact.name?.length === 300
      expect(row).toMatchObject({
        name: isLong ? `${'n'.repeat(254)}…` : contact.name,
        email: contact.email?.toLowerCase() ?? null,
        phone: contact.phone === '030 123' ? null : contact.phone,
        locale: contact.language_override,
        company: contact.companies.data.length === 0 ? null : 'Analytical Engines',
        tags: contact.tags.data.map(({ id }: Row) => ({ 17513: 'VIP', 17514: 'beta' })[id as number] ?? id),
        createdAt: iso(contact.created_at),
      })
      expect(customAttributes.name).toBe(isLong ? contact.name : undefined)
      expect(customAttributes.phone).toBe(contact.phone === '030 123' ? '030 123' : undefined)
      expect(customAttributes.externalId).toBe(contact.external_id ?? undefined)
      expect(customAttributes.role).toBe(contact.role)
      expect(customAttributes.unsubscribedFromEmails).toBe(contact.unsubscribed_from_emails || undefined)
      expect(customAttributes.companies).toBe(contact.companies.data.length === 2 ? 'c2' : undefined)
      const { paid, plan, monthly_spend, notes } = contact.custom_attributes
      expect(customAttributes).toMatchObject({ paid, monthly_spend, ...(plan === null ? {} : { plan }) })
      expect(customAttributes.notes).toBe(notes.slice(0, 500) || undefined)
      const lost = [notes.length > 500, contact.companies.total_count === 12].filter(Boolean).length
      expect([contact.id, listedOf('contact', contact.id).length]).toEqual([contact.id, lost])
    }
  })

  test('conversations are there with each of their fields, or listed with the reason', () => {
    const found = by(rows.conversations)
    const teammates = by(rows.teammates, 'name')
    const customers = by(rows.customers)
    const states: Row = { 11: 'Grace Hopper', 12: 'Konrad Zuse', 13: 'Former Admin' }
    const channels: Row = {
      email: 'email',
      phone_call: 'phone',
      phone_switch: 'phone',
      sms: 'sms',
      whatsapp: 'whatsapp',
    }
    const customerOf = (id: string) => {
      const double = doubles.find((one) => one.id === id)
      return customers.get(`intercom-${double === undefined ? id : `5f${Number(id.slice(2)) - 1}`}`)
    }
    for (const conversation of conversations) {
      const { id, title, state, source, contacts: people } = conversation
      const row = found.get(`intercom-${id}`)
      if (withoutContact.includes(conversation)) {
        expect(row).toBeUndefined()
        expect(listedOf('conversation', id)).toMatchObject([{ outcome: 'refused', error: 'has no contact' }])
        continue
      }
      const own = title || (source.subject === '' ? null : 'A <moth>')
      const customer = customerOf(people.contacts[0].id)
      expect(customer).toBeDefined()
      expect(row).toMatchObject({
        customerId: customer?.id,
        channel: channels[source.type] ?? 'chat',
        subject: own?.length === 256 ? `${'é'.repeat(254)}…` : own,
        status: state === 'closed' ? 'resolved' : 'open',
        resolvedAt:
          state === 'closed' ? iso(conversation.statistics?.last_close_at ?? conversation.updated_at) : null,
        assigneeId: teammates.get(states[conversation.admin_assignee_id])?.id ?? null,
        tags: conversation.tags.tags.map(({ name }: Row) => name),
        createdAt: iso(conversation.created_at),
      })
      const attributes = row?.customAttributes
      expect(attributes.subject).toBe(own?.length === 256 ? own : undefined)
      expect(attributes.channel).toBe(
        source.type === 'conversation' || channels[source.type] !== undefined ? undefined : source.type,
      )
      expect(attributes.snoozed).toBe(state === 'snoozed' || undefined)
      expect(attributes.priority).toBe(conversation.priority === 'priority' ? 'priority' : undefined)
      expect(attributes.team).toBe(conversation.team_assignee_id === null ? undefined : '814865')
      expect(attributes.otherContacts).toBe(people.contacts.length === 2 ? '5f3' : undefined)
      expect([attributes.rating, attributes.ratingRemark]).toEqual(
        conversation.conversation_rating === null ? [undefined, undefined] : [5, 'Great'],
      )
      expect([attributes.issue, attributes.count]).toEqual([
        conversation.custom_attributes.issue ?? undefined,
        conversation.custom_attributes.count,
      ])
      const reasons = listedOf('conversation', id).map(({ error }) => error)
      expect(reasons.some((reason) => /^has 600 parts, of which/.test(reason))).toBe(
        conversation.conversation_parts.total_count === 600,
      )
      expect(reasons.some((reason) => /^its assignee 99 /.test(reason))).toBe(
        conversation.admin_assignee_id === 99,
      )
    }
  })

  test('comments are messages, notes are notes; bots are "ai"; parts without text are left out', () => {
    const teammates = by(rows.teammates, 'name')
    const messages = new Map<string, Row[]>()
    for (const row of rows.messages) {
      const key = row.externalId.replace(/^(intercom-\d+)-\d+$/, '$1')
      messages.set(key, [...(messages.get(key) ?? []), row])
    }
    const ids = by(rows.conversations)
    const notes = new Map<string, Row>()
    for (const row of rows.notes) notes.set(`${row.conversationId} ${row.createdAt}`, row)
    let [left, noted] = [0, 0]
    for (const conversation of conversations) {
      if (withoutContact.includes(conversation)) continue
      const thread = ids.get(`intercom-${conversation.id}`)
      const source = {
        ...conversation.source,
        id: `${conversation.id}-source`,
        created_at: conversation.created_at,
        part_type: 'comment',
      }
      for (const part of [source, ...conversation.conversation_parts.conversation_parts]) {
        const { body, author, attachments, part_type: sort } = part
        const isNote = !['comment', 'open', 'close', 'quick_reply'].includes(sort)
        const found = messages.get(`intercom-${part.id}`) ?? []
        if (!body && attachments.length === 0) {
          left++
          expect(found).toEqual([])
          continue
        }
        const isAi = author.type === 'bot' || author.from_ai_agent === true || author.name === 'Operator'
        const type = isAi ? 'ai' : ['admin', 'team'].includes(author.type) ? 'teammate' : 'customer'
        const id = type === 'teammate' && author.type === 'admin' ? teammates.get(author.name)?.id : undefined
        if (isNote) {
          noted++
          const note = notes.get(`${thread?.id} ${iso(part.created_at)}`)
          expect(found).toEqual([])
          expect(note?.author).toEqual({ type: 'teammate', id, name: author.name })
          const link =
            attachments.length === 0
              ? ''
              : `\n<p><a href="${attachments[0].url.replaceAll('&', '&amp;')}">${attachments[0].name}</a></p>`
          expect(note?.body).toBe(`${body}${link}`)
          continue
        }
        expect([part.id, found.length]).toEqual([part.id, body?.length > 64_000 ? 2 : 1])
        expect(
          found
            .map((one) => one.body ?? '')
            .sort((a, b) => b.length - a.length)
            .join(''),
        ).toBe(body)
        const inOrder = [...found].sort((a, b) => a.externalId.length - b.externalId.length)
        for (const [n, message] of inOrder.entries()) {
          expect(message).toMatchObject({
            conversationId: thread?.id,
            createdAt: iso(part.created_at + n / 1_000),
            sentAt: iso(part.created_at + n / 1_000),
            direction: type === 'customer' ? 'inbound' : 'outbound',
          })
          expect(message.author).toEqual({
            type,
            ...(id === undefined ? {} : { id }),
            ...(author.name ? { name: author.name } : {}),
          })
          expect(message.contentType).toBe(body?.startsWith('<p>') ? 'html' : 'text')
        }
        expect(found[0]?.attachments ?? []).toEqual(
          attachments.map(({ name, url, content_type, filesize }: Row) => ({
            fileName: name,
            contentType: content_type,
            sizeBytes: filesize,
            url,
          })),
        )
      }
      const isHandledByAi = conversation.ai_agent_participated && conversation.admin_assignee_id === null
      if (!isHandledByAi) expect(thread?.handledBy).toBe('human')
    }
    expect(rows.conversations.filter(({ handledBy }) => handledBy === 'ai').length).toBeGreaterThan(10)
    expect(left).toBeGreaterThan(500)
    expect(rows.notes).toHaveLength(noted)
  })

  test('sends no event', async () => {
    expect(await storedEvents(shared(), api.organizationId)).toEqual([])
  })

  test('a second run and a rehearsal list the same, and change nothing', async () => {
    const again = await importInto(shared(), api, words)
    expect([again.code, again.listed]).toEqual([3, listed])
    for (const { created } of Object.values(again.summary.rows) as Row[]) expect(created).toBe(0)
    const rehearsed = await importInto(shared(), api, [...words, '--dry-run'])
    expect([rehearsed.code, rehearsed.listed, rehearsed.summary.rows]).toEqual([
      3,
      listed,
      first.summary.rows,
    ])
    expect(await rowsOf(shared(), api)).toEqual(rows)
  })
})
