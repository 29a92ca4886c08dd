/**
 * A workspace of Intercom with every value that its documentation allows and with what workspaces have beyond it: the same each time.
 * Conversations are as `GET /conversations/{id}` answers them.
 */
import { at, type Json, long } from './zendesk-account.ts'

const time = (n: number, second = 0) => 1_551_430_800 + n * 3_600 + second

export const admins: readonly Json[] = [
  {
    type: 'admin',
    id: '11',
    name: 'Grace Hopper',
    email: 'Grace@Desk.example',
    has_inbox_seat: true,
    away_mode_enabled: false,
    team_ids: [],
  },
  {
    type: 'admin',
    id: '12',
    name: 'Konrad Zuse',
    email: 'konrad@desk.example',
    has_inbox_seat: false,
    away_mode_enabled: true,
    team_ids: [814_865],
  },
]
/** Wrote, and is no admin any more. */
export const formerAdmin: Json = {
  type: 'admin',
  id: '13',
  name: 'Former Admin',
  email: 'former@desk.example',
}
const operator: Json = { type: 'admin', id: '14', name: 'Operator', email: 'operator+abcd1234@intercom.io' }

export const tags: readonly Json[] = [
  { type: 'tag', id: '17513', name: 'VIP' },
  { type: 'tag', id: '17514', name: 'beta' },
]
export const companies: readonly Json[] = [
  { type: 'company', id: 'c1', company_id: '7', name: 'Analytical Engines' },
]

const tagList = (ids: readonly string[]) => ({
  type: 'list',
  data: ids.map((id) => ({ type: 'tag', id })),
  total_count: ids.length,
  has_more: false,
})

/** Every tenth lead has the address of the user before it. */
export const contacts: readonly Json[] = Array.from({ length: 150 }, (_, n) => ({
  type: 'contact',
  id: `5f${n}`,
  workspace_id: 'ecahpwf5',
  external_id: at([null, `crm-${n}`], n),
  role: n % 3 === 2 ? 'lead' : 'user',
  email:
    n % 30 === 29 ? `person${n - 1}@customers.example` : n % 7 === 6 ? null : `Person${n}@Customers.example`,
  phone: at([null, '+4930123456', '030 123'], n),
  name: at(['Ada Lovelace', null, 'n'.repeat(300), '🙂'], n),
  owner_id: at([null, 11], n),
  has_hard_bounced: false,
  unsubscribed_from_emails: n % 11 === 10,
  language_override: at([null, 'en', 'pt-BR'], n),
  custom_attributes: {
    paid: n % 2 === 0,
    plan: at(['gold', null], n),
    monthly_spend: 155.5,
    notes: at(['', long(600)], n),
  },
  tags: tagList(at([[], ['17513'], ['17513', '17514', '999']], n)),
  companies: at(
    [
      { type: 'list', data: [], total_count: 0, has_more: false },
      {
        type: 'list',
        data: [
          { type: 'company', id: 'c1' },
          { type: 'company', id: 'c2' },
        ],
        total_count: 2,
        has_more: false,
      },
      { type: 'list', data: [{ type: 'company', id: 'c1' }], total_count: 12, has_more: true },
    ],
    n,
  ),
  created_at: time(n),
  updated_at: time(n),
}))

export const states = ['open', 'closed', 'snoozed']
export const sources = [
  'conversation',
  'email',
  'facebook',
  'instagram',
  'phone_call',
  'phone_switch',
  'push',
  'sms',
  'twitter',
  'whatsapp',
]
const upload = (n: number, more: Json = {}): Json => ({
  type: 'upload',
  name: `photo ${n}.png`,
  url: `https://downloads.intercom.example/${n}?a=1&b=2`,
  content_type: 'image/png',
  filesize: 100 + n,
  width: 10,
  height: 10,
  ...more,
})

interface Part {
  readonly part_type: string
  readonly body: string | null
  readonly author: Json
  readonly attachments?: readonly Json[]
  readonly more?: Json
}

/** Parts in turn; each conversation has five of them. */
const parts: readonly ((contact: string, n: number) => Part)[] = [
  (id) => ({
    part_type: 'comment',
    body: '<p>It halts &amp; whirrs.</p>',
    author: { type: 'user', id, name: 'Ada', email: 'ada@customers.example' },
  }),
  () => ({
    part_type: 'comment',
    body: '<p>Turn it off.</p>',
    author: { type: 'admin', ...admins[0], type_: 0 },
  }),
  () => ({ part_type: 'note', body: '<p>He is a VIP, be kind.</p>', author: { ...admins[1] } }),
  () => ({
    part_type: 'assignment',
    body: null,
    author: { ...admins[0] },
    more: { assigned_to: { type: 'admin', id: '12' } },
  }),
  () => ({
    part_type: 'assignment',
    body: '<p>Yours: he shouts.</p>',
    author: { ...admins[0] },
    more: { assigned_to: { type: 'team', id: '814865' } },
  }),
  () => ({
    part_type: 'comment',
    body: '<p>I am a robot.</p>',
    author: { type: 'bot', id: '15', name: 'Fin', email: '' },
  }),
  () => ({
    part_type: 'comment',
    body: '<p>Answered by AI.</p>',
    author: { ...admins[0], from_ai_agent: true, is_ai_answer: true },
  }),
  () => ({ part_type: 'comment', body: '<p>You will get replies here.</p>', author: operator }),
  (_, n) => ({
    part_type: 'comment',
    body: '<p>Me too.</p>',
    author: { type: 'lead', id: `5f${(n + 1) % 150}`, name: 'Lead' },
  }),
  () => ({ part_type: 'close', body: '<p>Closed, bye.</p>', author: formerAdmin }),
  () => ({ part_type: 'close', body: null, author: formerAdmin }),
  (id) => ({ part_type: 'open', body: 'Plain words, 1 < 2', author: { type: 'user', id, name: 'Ada' } }),
  () => ({ part_type: 'snoozed', body: null, author: { ...admins[1] } }),
  () => ({
    part_type: 'conversation_attribute_updated_by_workflow',
    body: null,
    author: { type: 'bot', id: '15' },
    more: { event_details: {} },
  }),
  () => ({
    part_type: 'quick_reply',
    body: '<p>Yes</p>',
    author: { type: 'contact', id: '5f1', name: 'Quick' },
  }),
  (_, n) => ({ part_type: 'comment', body: '', author: { ...admins[0] }, attachments: [upload(n)] }),
  (_, n) => ({
    part_type: 'note',
    body: '<p>Internal picture</p>',
    author: { ...admins[0] },
    attachments: [upload(n)],
  }),
  () => ({
    part_type: 'comment',
    body: '<p>From the team</p>',
    author: { type: 'team', id: '814865', name: 'Support' },
  }),
  (_, n) => ({
    part_type: 'comment',
    body: `<p>${long(n % 41 === 0 ? 65_000 : 100)}</p>`,
    author: { ...admins[1] },
  }),
  () => ({ part_type: 'note_and_reopen', body: '<p>Reopened for him.</p>', author: { ...admins[1] } }),
  () => ({
    part_type: 'some_new_type',
    body: '<p>Nobody knows who sees this.</p>',
    author: { ...admins[1] },
  }),
]

/** Those of them that no teammate writes. */
const withoutTeam = [0, 5, 3, 13]

export function conversationsOf(count: number): readonly Json[] {
  return Array.from({ length: count }, (_, n) => {
    const id = String(1_000 + n)
    const contact = n % 100 === 99 ? `gone${n}` : `5f${n % 150}`
    const state = at(states, n)
    const said = Array.from({ length: 5 }, (_, m) => {
      const { more, ...part } = at(parts, n % 24 === 0 ? at(withoutTeam, m) : m === 0 ? n : 4 * n + m)(
        contact,
        n,
      )
      return {
        type: 'conversation_part',
        id: String(10 * n + m),
        created_at: time(n, 60 * (m + 1)),
        updated_at: time(n, 60 * (m + 1)),
        notified_at: time(n),
        assigned_to: null,
        attachments: [],
        external_id: null,
        redacted: false,
        ...part,
        ...more,
      }
    })
    const isByAdmin = n % 5 === 4
    return {
      type: 'conversation',
      id,
      title: at([null, 'Engine halts', 'é'.repeat(256), ''], n),
      created_at: time(n),
      updated_at: time(n, 4_000),
      waiting_since: null,
      snoozed_until: state === 'snoozed' ? 1_893_456_000 : null,
      open: state !== 'closed',
      state,
      read: true,
      priority: at(['not_priority', 'priority'], n),
      admin_assignee_id: at([null, 11, 12, 13, 0, 99], n),
      team_assignee_id: at([null, 814_865], n),
      tags: {
        type: 'tag.list',
        tags: at([[], [{ type: 'tag', id: '17513', name: 'VIP', applied_at: time(n) }]], n),
      },
      conversation_rating: at(
        [
          null,
          { rating: 5, remark: 'Great', created_at: time(n), contact: { type: 'contact', id: contact } },
        ],
        n,
      ),
      source: {
        type: at(sources, n),
        id: String(n % 50),
        delivered_as: isByAdmin ? 'admin_initiated' : 'customer_initiated',
        subject: at(['', '<p>A &lt;moth&gt;</p>'], n),
        body: n % 13 === 12 ? '' : '<p>In the relay.</p>',
        author: isByAdmin
          ? { ...admins[0] }
          : n % 25 === 8
            ? { type: null, id: null, name: '', email: '' }
            : { type: 'user', id: contact, name: 'Ada', email: `gone${n}@customers.example` },
        attachments: n % 17 === 0 ? [upload(n)] : [],
        url: null,
        redacted: false,
      },
      contacts: {
        type: 'contact.list',
        contacts:
          n % 60 === 59
            ? [
                { type: 'contact', id: contact },
                { type: 'contact', id: '5f3' },
              ]
            : n % 200 === 154
              ? []
              : [{ type: 'contact', id: contact }],
      },
      teammates: { type: 'admin.list', admins: [{ type: 'admin', id: '11' }] },
      custom_attributes: { issue: at(['bug', null], n), count: n },
      first_contact_reply: null,
      sla_applied: null,
      statistics:
        state === 'closed' && n % 2 === 1
          ? { type: 'conversation_statistics', last_close_at: time(n, 3_000), count_reopens: 1 }
          : null,
      conversation_parts: {
        type: 'conversation_part.list',
        conversation_parts: said,
        total_count: n % 97 === 0 ? 600 : said.length,
      },
      linked_objects: { type: 'list', data: [], total_count: 0, has_more: false },
      ai_agent_participated: n % 4 === 0,
      ai_agent: null,
    }
  })
}
