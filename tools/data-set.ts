/**
 * A desk as it is after some months, for screenshots and trials: 3,000 customers, 500 conversations of 5 to 60 messages, 1,500 tickets, 304
 * bookings, eight teammates and 12 endpoints. Every name is made up. The same call writes the same desk, up to ids and times.
 *
 *     DESKWIRE_API_KEY=… sh tools/node.sh tools/data-set.ts http://localhost:8080 https://hooks.example.com
 */
import { fileURLToPath } from 'node:url'

// biome-ignore lint/suspicious/noExplicitAny: as the service answered
type Made = any

/** Sends a POST below `/v1`, and returns the parsed answer. */
export type Post = (path: string, body: object) => Promise<Made>

const first =
  'Amara Bjorn Chidi Dalia Emeka Farah Goran Hana Ivo Jelena Kofi Leila Mirek Nadia Oskar Priya Rafael Sanna Tomas Yuki'
const last =
  'Abara Brandt Castellan Dorsey Ekström Fontaine Galan Haddad Ivanov Jansen Kovač Lindqvist Moreau Nakata Okafor Petrov Quist Rossi Sato Varga'
const towns = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'Asia/Tokyo',
  'Africa/Lagos',
  'America/Sao_Paulo',
]
const subjects = [
  'Where is my parcel?',
  'Charged twice for March',
  'The app signs me out every hour',
  'Cancel the subscription of our second team',
  'Invoice with the wrong address, and a purchase order number that has to be on it before Friday',
  'Webhook signature does not match',
  'Can we have it in blue?',
  'Refund of the damaged lamp',
]
const said = [
  'Hello, I ordered three weeks ago and have heard nothing since.',
  'The tracking page https://parcels.example.com/track?id=1843 says “in transit”, since Monday.',
  'We run `deskwire listen` and get:\n```\n401 unauthorized\n```\nWhat are we doing wrong?',
  'Thank you! One more question: does the price include delivery to the Azores?',
  'Please answer today, we ship on Friday.',
]
const answered = [
  'Hello, thank you for writing. I am looking into it and come back to you within the hour.',
  'It left our warehouse this morning. You get a message with the time of delivery.',
  'I have started the refund; it reaches your account within three days.',
]

/** Numbers below `most`, always the same ones in a run. */
function dice(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

interface Sizes {
  readonly customers: number
  readonly conversations: number
  readonly tickets: number
  readonly bookings: number
  readonly endpoints: number
}

const usual: Sizes = { customers: 3_000, conversations: 500, tickets: 1_500, bookings: 304, endpoints: 12 }

/** Writes the desk. `hooks`: the address under which the endpoints are. */
async function writeDesk(post: Post, hooks: string | null, sizes: Sizes = usual): Promise<void> {
  const roll = dice(47)
  const one = <T>(of: readonly T[]): T => of[roll(of.length)] as T
  const name = () => `${one(first.split(' '))} ${one(last.split(' '))}`
  const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))

  async function batch(plural: string, items: readonly object[]): Promise<readonly Made[]> {
    const made: Made[] = []
    for (let n = 0; n < items.length; n += 500) {
      const { data } = await post(`/${plural}/batch`, { items: items.slice(n, n + 500) })
      made.push(...data)
    }
    return made.map(({ id, problem }) => {
      if (id === undefined) throw new Error(`${plural}: ${problem?.detail}`)
      return id
    })
  }

  const people = await batch(
    'teammates',
    many(8, (n) => ({ name: n === 0 ? 'Maya Okafor' : name(), email: `agent${n}@desk.example` })),
  )
  const someone = () => (roll(4) === 0 ? null : one(people))
  const customers = await batch(
    'customers',
    many(sizes.customers, (n) => {
      const own = name()
      return {
        name: own,
        email: `${own
          .toLowerCase()
          .normalize('NFD')
          .replace(/\p{M}/gu, '')
          .replace(/[^a-z]+/g, '.')}.${n}@mail.example`,
        ...(n % 3 === 0 ? { company: `${one(last.split(' '))} & Sons`, phone: `+4930${1_000_000 + n}` } : {}),
        timezone: one(towns),
        tags: n % 9 === 0 ? ['vip'] : [],
      }
    }),
  )
  const conversations = await batch(
    'conversations',
    many(sizes.conversations, (n) => ({
      customerId: one(customers),
      subject: one(subjects),
      channel: one(['email', 'email', 'chat', 'whatsapp']),
      handledBy: n % 12 === 0 ? 'ai' : 'human',
      assigneeId: n % 12 === 0 ? null : someone(),
    })),
  )
  const now = Date.now()
  for (const [n, conversationId] of conversations.entries()) {
    const count = 5 + roll(56)
    // The last was sent some minutes ago, or some days.
    const end = now - (roll(n % 5 === 0 ? 90 : 9_000) + 1) * 60_000
    // The last word of one in five is the customer's.
    const isLastTheirs = n % 5 === 0
    await batch(
      'messages',
      many(count, (m) => {
        const isTheirs = (count - 1 - m) % 2 === (isLastTheirs ? 0 : 1)
        return {
          conversationId,
          direction: isTheirs ? 'inbound' : 'outbound',
          author: isTheirs
            ? { type: 'customer' }
            : n % 12 === 0
              ? { type: 'ai', name: 'Desk assistant' }
              : { type: 'teammate', id: one(people) },
          body: one(isTheirs ? said : answered),
          sentAt: new Date(end - (count - 1 - m) * 47 * 60_000).toISOString(),
        }
      }),
    )
    if (!isLastTheirs && n % 2 === 0) await post(`/conversations/${conversationId}/resolve`, {})
  }
  await batch(
    'tickets',
    many(sizes.tickets, () => ({
      customerId: one(customers),
      subject: one(subjects),
      priority: one(['low', 'normal', 'normal', 'high', 'urgent']),
      assigneeId: someone(),
    })),
  )
  await batch(
    'bookings',
    many(sizes.bookings, (n) => {
      const start = Math.ceil(now / 3_600_000) * 3_600_000 + (n - sizes.bookings / 2) * 3_600_000
      return {
        customerId: one(customers),
        title: one(['Fitting', 'Call about the offer', 'Survey of the roof']),
        startAt: new Date(start).toISOString(),
        endAt: new Date(start + 1_800_000).toISOString(),
        timezone: one(towns),
        assigneeId: someone(),
      }
    }),
  )
  if (hooks === null) return
  for (let n = 0; n < sizes.endpoints; n++)
    await post('/webhooks', {
      url: `${hooks}/${n}`,
      events: ['conversation.created', 'message.received', 'ticket.created'],
      description: `${one(last.split(' '))} warehouse`,
    })
}

async function main([service, hooks]: readonly (string | undefined)[]): Promise<void> {
  const key = process.env.DESKWIRE_API_KEY
  if (service === undefined || key === undefined)
    throw new Error('usage: DESKWIRE_API_KEY=… sh tools/node.sh tools/data-set.ts SERVICE [ENDPOINTS]')
  await writeDesk(async (path, body) => {
    const response = await fetch(`${service}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }, hooks ?? null)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
