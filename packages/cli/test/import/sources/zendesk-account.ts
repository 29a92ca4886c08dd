/**
 * An account of Zendesk with every value that its documentation allows and with what accounts have beyond it: the same each time, so that
 * what arrives can be compared field by field. Records are as the incremental exports have them.
 */
export type Json = Record<string, unknown>

const day = (n: number, second = 0) =>
  new Date(Date.UTC(2019, 0, 1 + n, 9, 0, second)).toISOString().replace('.000Z', 'Z')
export const at = <T>(values: readonly T[], n: number): T => values[n % values.length] as T

export const long = (length: number) =>
  'The engine halts after an hour. '.repeat(Math.ceil(length / 32)).slice(0, length)

const agent = (id: number, more: Json = {}): Json => ({
  id,
  name: `Agent ${id}`,
  email: `Agent${id}@Desk.example`,
  role: 'agent',
  active: true,
  suspended: false,
  created_at: day(0),
  ...more,
})

export const agents: readonly Json[] = [
  agent(901, { role: 'admin' }),
  agent(902, { role_type: 1, custom_role_id: 5 }),
  agent(903, { suspended: true }),
  agent(904, { active: false, email: null }),
  agent(905, { name: 'Zoë Łukasz', ticket_restriction: 'assigned', restricted_agent: true }),
]

const phones = [null, '+4930123456', '+1 (555) 123-4567', '555 123', '']
const zones = [
  { time_zone: 'Copenhagen', iana_time_zone: 'Europe/Copenhagen' },
  { time_zone: 'Eastern Time (US & Canada)' },
  { time_zone: 'Europe/Berlin' },
  {},
]
const details = [null, '', 'Pays by invoice', long(700)]
const names = ['Ada Lovelace', 'Grace Hopper', 'José Ñandú', 'محمد', '👩‍🚀 Crew', 'n'.repeat(300), null]

export const users: readonly Json[] = Array.from({ length: 200 }, (_, n) => ({
  id: 1_000 + n,
  name: at(names, n),
  email: n % 9 === 8 ? null : `User${n}@Customers.example`,
  role: 'end-user',
  phone: at(phones, n),
  locale: at(['en-US', 'de', 'pt-br', null], n),
  ...at(zones, n),
  organization_id: at([null, 71, 72, 79], n),
  external_id: at([null, `crm-${n}`], n),
  details: at(details, n),
  notes: at(['', 'Calls on Mondays'], n),
  tags:
    n === 7
      ? Array.from({ length: 60 }, (_, tag) => `tag_${tag}`)
      : at([[], ['vip'], ['vip', 'beta', 't'.repeat(51)]], n),
  user_fields: {
    plan: at(['gold', null], n),
    seats: n,
    is_partner: n % 2 === 0,
    since: '2012-07-23T00:00:00Z',
    rate: 5.1,
  },
  suspended: n % 17 === 16,
  active: n % 23 !== 22,
  verified: true,
  created_at: day(n),
}))

export const organizations: readonly Json[] = [
  { id: 71, name: 'Analytical Engines', domain_names: ['engines.example'], shared_tickets: false, tags: [] },
  { id: 72, name: 'Compilers & Söhne', domain_names: [], shared_tickets: true, tags: ['big'] },
]
export const groups: readonly Json[] = [{ id: 81, name: 'Billing' }]
export const ticketFields: readonly Json[] = [
  { id: 27642, title: 'Product', raw_title: 'Product', type: 'tagger' },
  { id: 27648, title: 'Regions', raw_title: 'Regions', type: 'multiselect' },
]

export const statuses = ['new', 'open', 'pending', 'hold', 'solved', 'closed', 'deleted']
export const priorities = [null, 'low', 'normal', 'high', 'urgent', undefined]
export const types = [null, 'problem', 'incident', 'question', 'task']
export const channels =
  'web email api mobile mobile_sdk rule chat web_messaging native_messaging messaging twitter facebook whatsapp sms voice phone_call_inbound phone_call_outbound voicemail help_center any_channel side_conversation instagram_dm line telegram sample_ticket'.split(
    ' ',
  )
export const subjects = [
  'The engine halts',
  null,
  '',
  '   ',
  'é'.repeat(256),
  long(600),
  '🙂 emoji',
  '"quoted"; =1+1',
  undefined,
]

const attachment = (n: number, more: Json = {}): Json => ({
  id: n,
  file_name: `photo ${n}.png`,
  content_url: `https://desk.zendesk.example/attachments/token/${n}/?name=photo+${n}.png`,
  mapped_content_url: `https://help.example/${n}`,
  content_type: 'image/png',
  size: 1_000 + n,
  inline: n % 2 === 0,
  thumbnails: [{ id: 1, content_url: 'https://thumb.example' }],
  ...more,
})

/** Comments in turn; each ticket has four of them. */
const comments: readonly ((id: number, ticket: number, requester: number) => Json)[] = [
  (_, ticket, requester) => ({
    author_id: requester,
    body: `It halts, ${ticket}.\nAgain & again <b>`,
    public: true,
  }),
  () => ({
    author_id: 901,
    body: 'Turn **it** off: [how](https://help.example/off)',
    plain_body: 'Turn it off: how',
    html_body: '<p>x</p>',
    public: true,
  }),
  () => ({ author_id: 902, body: 'He is a VIP, be kind', public: false }),
  (_, __, requester) => ({ author_id: requester + 1, body: 'I have that too', public: true }),
  (id) => ({ author_id: 903, body: long(id % 41 === 0 ? 65_000 : 200), public: true }),
  () => ({ author_id: 905, body: '', plain_body: '', html_body: '', public: true }),
  () => ({ author_id: -1, body: 'Merged into #1', public: false, via: { channel: 'system' } }),
  (id) => ({
    author_id: 901,
    body: '',
    html_body: '',
    public: true,
    attachments: [attachment(id), attachment(id + 100_000)],
  }),
  (id, _, requester) => ({
    author_id: requester,
    body: 'See',
    public: true,
    attachments: Array.from({ length: 17 }, (_, n) => attachment(id * 100 + n)),
  }),
  (id) => ({ author_id: 905, body: 'Internal picture', public: false, attachments: [attachment(id)] }),
  (id) => ({
    author_id: 901,
    body: 'Odd',
    public: true,
    attachments: [attachment(id, { content_type: '', size: null, file_name: 'f'.repeat(300) })],
  }),
  () => ({
    author_id: 902,
    html_body: '<div class="zd-comment"><p>Only <b>HTML</b></p></div>',
    public: true,
  }),
  () => ({
    type: 'VoiceComment',
    author_id: 902,
    body: 'Call from: +1 (555) 123-4567',
    public: true,
    data: {
      recording_url: 'https://calls.example/7.mp3',
      transcription_text: 'Hello, it halts.',
      call_duration: 60,
    },
  }),
  (_, __, requester) => ({
    author_id: requester + 1,
    body: 'A private word of somebody in copy',
    public: false,
  }),
  () => ({ author_id: 424242, body: 'Of somebody who is nowhere', public: true }),
  (id) => ({ author_id: 903, body: long(id % 41 === 0 ? 65_536 : 300), public: false }),
  () => ({
    author_id: 904,
    body: 'نص عربي 123 🙂',
    public: true,
    metadata: { system: { latitude: 52.520008 } },
  }),
]

const values = ['prod_a', null, ['eu', 'us'], 5.5, true, 'v'.repeat(600), '']

/** Requesters are customers, except for every 50th, who is an agent, and every 200th, who is in no file. */
export function requesterOf(n: number): number {
  if (n % 200 === 199) return 5_000 + n
  return n % 50 === 49 ? 902 : 1_000 + (n % 199)
}

export function ticketsOf(count: number): readonly Json[] {
  return Array.from({ length: count }, (_, n) => {
    const id = 1 + n
    const requester = requesterOf(n)
    const status = at(statuses, n)
    const said: Json[] = Array.from({ length: 4 }, (_, m) => {
      const comment = 10 * id + m + 1
      const of = at(comments, m === 0 ? 17 * n : 3 * n + m)
      return {
        id: comment,
        type: 'Comment',
        attachments: [],
        created_at: day(n, 60 * m),
        ...of(comment, id, requester),
      }
    })
    const subject = at(subjects, n)
    return {
      id,
      url: `https://desk.zendesk.example/api/v2/tickets/${id}.json`,
      external_id: at([null, `order-${id}`], n),
      via: { channel: at(channels, n), source: { from: {}, to: {}, rel: null } },
      ...(subject === undefined ? {} : { subject }),
      raw_subject: subject ?? null,
      description: said[0]?.body ?? '',
      priority: at(priorities, n),
      type: at(types, n),
      status,
      recipient: at([null, 'support@desk.example'], n),
      requester_id: requester,
      submitter_id: requester,
      assignee_id: at([null, 901, 902, 903, 904, 77_777], n),
      group_id: at([null, 81, 82], n),
      brand_id: 3,
      ticket_form_id: at([null, 6], n),
      custom_status_id: at([null, 9], n),
      problem_id: at([null, null, 1], n),
      due_at: at([null, day(n + 5)], n),
      tags: at([[], ['printer', 'fire']], n),
      custom_fields: [
        { id: 27642, value: at(values, n) },
        { id: 27648, value: at(values, n + 2) },
        { id: 99, value: at(values, n + 4) },
      ],
      satisfaction_rating: at(
        [
          null,
          { score: 'unoffered' },
          { score: 'offered' },
          { score: 'good', comment: 'Great!' },
          { score: 'bad' },
        ],
        n,
      ),
      collaborator_ids: [35_334],
      has_incidents: false,
      is_public: true,
      dates:
        status === 'solved'
          ? { solved_at: day(n + 1), status_updated_at: day(n + 1) }
          : status === 'closed' && n % 2 === 0
            ? { solved_at: day(n + 1), status_updated_at: day(n + 3) }
            : undefined,
      created_at: day(n),
      updated_at: day(n + 2),
      comments: said,
    }
  })
}

export const lines = (records: readonly unknown[]) =>
  `${records.map((one) => JSON.stringify(one)).join('\n')}\n`
