/**
 * Readers in a process of their own, each on its own connection: they read a stream to its end, and then wait for
 * changes, a minute at a time. Times are milliseconds with fractions, as the benchmark reads them.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import type { Reader, WaitersOrder, WaitersReport } from './waiters.ts'

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly pagination: { readonly nextCursor: string; readonly hasMore: boolean }
}

/** Readers that have caught up. */
let following = 0
/** Those whose request is under way. */
let asking = 0
let expected = 0
let at: number[] = []
let ids = new Set<string>()

const now = () => performance.timeOrigin + performance.now()
const report = (message: WaitersReport) => process.send?.(message)

process.on('message', (order: WaitersOrder) => {
  switch (order.do) {
    case 'begin':
      return begin(order.url, order.readers)
    case 'expect':
      expected = order.answers
      at = []
      ids = new Set()
      return report({ are: 'ready' })
    case 'tell':
      return tellAnswers()
  }
})

async function begin(url: string, readers: readonly Reader[]): Promise<void> {
  const clients = readers.map((reader) => ({
    ...reader,
    client: new Client(url, { headersTimeout: 90_000, bodyTimeout: 90_000 }),
  }))
  const began = await Promise.all(clients.map(readToEnd))
  clients.forEach((reader, n) => void (reader.streams ? stream : follow)(reader, began[n] as string))
  following = clients.length
  await settled(0)
  report({ are: 'waiting' })
}

async function tellAnswers(): Promise<void> {
  await settled(expected)
  report({ are: 'answered', at: at.sort((a, b) => a - b), ids: [...ids] })
}

/** Enough responses have arrived, all readers ask again, and the service has found nothing for them. */
async function settled(answers: number): Promise<void> {
  const pause = 20 + following / 2
  while (at.length < answers || asking < following) await delay(pause)
  await delay(pause)
}

type Connected = Reader & { readonly client: Client }

async function page(
  { client, token, path }: Connected,
  query: string,
): Promise<Page & { readonly at: number }> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await client.request({ method: 'GET', path: `${path}?${query}`, headers })
  const text = await answer.body.text()
  const cameAt = now()
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`)
  return { ...(JSON.parse(text) as Page), at: cameAt }
}

/** Returns the cursor at its end. */
async function readToEnd(reader: Connected): Promise<string> {
  let query = 'updatedAfter=1970-01-01T00:00:00Z'
  for (;;) {
    const { pagination } = await page(reader, query)
    if (!pagination.hasMore) return pagination.nextCursor
    query = `cursor=${pagination.nextCursor}`
  }
}

async function follow(reader: Connected, from: string): Promise<void> {
  let cursor = from
  for (;;) {
    asking++
    const { data, pagination, at: cameAt } = await page(reader, `wait=50&cursor=${cursor}`)
    asking--
    cursor = pagination.nextCursor
    if (data.length > 0) note(cameAt, data)
  }
}

/** Each page after the first, which reports nothing. */
async function stream({ client, token, path }: Connected, from: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  const { statusCode, body } = await client.request({
    method: 'GET',
    path: `${path}?cursor=${from}`,
    headers,
  })
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${await body.text()}`)
  asking++
  let rest = ''
  for await (const piece of body.setEncoding('utf8')) {
    const cameAt = now()
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const [type, , data = ''] = block.split('\n')
      if (type !== 'event: page') continue
      const rows = (JSON.parse(data.slice('data: '.length)) as Page).data
      if (rows.length > 0) note(cameAt, rows)
    }
  }
  throw new Error(`${path} has ended its stream`)
}

function note(cameAt: number, data: Page['data']): void {
  at.push(cameAt)
  for (const { id } of data) ids.add(id)
}

process.on('disconnect', () => process.exit(0))
