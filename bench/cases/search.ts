/** Searches for two common words in lists of 100,000 objects, and what another organization sees meanwhile. */
import { install, type Organization } from '../harness/installation.ts'
import { drive, type Load } from '../harness/load.ts'
import { headersOf } from '../harness/patches.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const objects = 100_000
/** Each has so many messages. */
const conversations = 25_000
const batch = 1_000
const clients = 4
const seconds = 5
/** Each is in one text of ten, so both are in one of a hundred; others are in fewer. */
const commonWords = ['parcel', 'invoice']
const vocabulary = 1_000

export async function* search({ runs, only }: Scale): AsyncGenerator<Result> {
  await using installation = await install()
  const { url } = installation.service
  const searcher = await installation.newOrganization()
  const other = await installation.newOrganization()
  const [neighbourId] = await create(url, other, 'customers', 1, () => ({ name: 'Grace' }))
  const customerIds = await create(url, searcher, 'customers', objects, (n) => ({ name: textOf(n) }))
  await create(url, searcher, 'tickets', objects, (n) => ({
    customerId: customerIds[(n * 7) % objects],
    subject: textOf(n + 3),
  }))
  const ids = await create(url, searcher, 'conversations', conversations, (n) => ({
    customerId: customerIds[(n * 11) % objects],
    channel: 'email',
    subject: textOf(n + 5),
  }))
  await create(url, searcher, 'messages', objects, (n) => ({
    conversationId: ids[n % conversations],
    direction: 'inbound',
    author: { type: 'customer' },
    body: textOf(n + 9),
  }))
  await installation.pool.query('vacuum (analyze)')
  const patch = () =>
    ({
      method: 'PATCH',
      path: `/v1/customers/${neighbourId}`,
      headers: headersOf(other),
      body: JSON.stringify({ company: String(performance.now()) }),
    }) as const
  for (const [list, what] of [
    ['customers', `${objects} customers`],
    ['messages', `${objects} messages`],
    ['tickets', `${objects} tickets and their customers`],
    ['conversations', `${conversations} conversations, their customers and ${objects} messages`],
  ] as const) {
    if (!list.includes(only)) continue
    const request = () =>
      ({
        method: 'GET',
        path: `/v1/${list}?limit=20&q=${commonWords.join('+')}`,
        headers: headersOf(searcher),
      }) as const
    const searches = (connections: number) =>
      drive({ url, clients: connections, seconds, status: 200, request })
    const found: Run[] = []
    const neighbour: Run[] = []
    for (let run = 0; run < runs; run++) {
      await searches(1)
      const { perSecond, p50, p99 } = await searches(clients)
      found.push({ value: perSecond, p50, p99 })
      const beside = drive({ url, clients: 1, seconds, status: 200, request: patch })
      const [, waits] = await Promise.all([searches(clients), beside])
      neighbour.push(waited(waits))
    }
    const conditions = { clients, 'found of each': '1 in 100', limit: 20, seconds }
    yield summarize(`search: two common words, ${what}`, 'searches/s', conditions, found)
    const meanwhile = { searchers: clients, seconds }
    yield summarize(`search: two common words, ${list}: a PATCH of another's`, 'ms', meanwhile, neighbour)
  }
}

function waited({ p50, p99 }: Load): Run {
  return { value: p99, p50, p99 }
}

function textOf(n: number): string {
  const words = Array.from({ length: 8 }, (_, place) => `word${(n * (place * 97 + 31) + place) % vocabulary}`)
  if (n % 10 === 0) words[1] = commonWords[0] ?? ''
  if (Math.floor(n / 10) % 10 === 0) words[5] = commonWords[1] ?? ''
  return words.join(' ')
}

/** Returns their ids. */
async function create(
  url: string,
  organization: Organization,
  list: string,
  count: number,
  of: (n: number) => Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const size = Math.min(batch, count - ids.length)
    const items = Array.from({ length: size }, (_, n) => of(ids.length + n))
    const body = JSON.stringify({ items })
    const response = await fetch(`${url}/v1/${list}/batch`, {
      method: 'POST',
      headers: headersOf(organization),
      body,
    })
    if (!response.ok) throw new Error(`a batch was answered ${response.status}`)
    const { data } = (await response.json()) as { data: { id: string }[] }
    ids.push(...data.map(({ id }) => id))
  }
  return ids
}
