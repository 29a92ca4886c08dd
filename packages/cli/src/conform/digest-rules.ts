/** Rules of what ranges of ids hold, by which copies are compared. */
import { checkpointOf, contentDigestOf, type RangeDigests } from '@deskwire/sdk'
import { beginning, copyOf, type Desk, type Query, type Row, type Rule } from './desk.ts'
import { require, requireSame, short } from './rule.ts'

/** Some tickets, and the ids that they are between. */
async function rangeOfTickets(desk: Desk): Promise<{ customerId: string; after: string; before: string }> {
  const { id: customerId } = await desk.customer()
  const made: Row[] = []
  for (let n = 0; n < 6; n++) made.push(await desk.ticket(customerId))
  const ids = made.map(({ id }) => id).toSorted()
  return { customerId, after: ids[0] as string, before: ids.at(-1) as string }
}

async function digests(desk: Desk, query: Query): Promise<RangeDigests> {
  const { status, text, json } = await desk.call('GET', '/tickets/digests', query)
  require(status === 200 && Array.isArray(json?.data), () =>
    `digests were answered ${status}: ${short(text)}`)
  return json
}

const numberOf = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`)

export const digestRules: readonly Rule[] = [
  {
    id: 'digests.ranges',
    says: 'Ranges are of one size, follow each other from after to before, and number 1 to 256; anything else is 400.',
    section: 'Digests of ranges',
    async check(desk) {
      const { after, before } = await rangeOfTickets(desk)
      const [first, width] = [numberOf(after), numberOf(before) - numberOf(after)]
      for (const parts of [1, 3, 256]) {
        const { data } = await digests(desk, { after, before, parts })
        const ends = Array.from({ length: parts }, (_, n) => first + (width * BigInt(n + 1)) / BigInt(parts))
        requireSame(
          `where ${parts} ranges end`,
          data.map((part) => `${numberOf(part.before)}`),
          ends.map(String),
        )
        const begins = [first, ...ends.slice(0, -1)]
        requireSame(
          'where they begin',
          data.map((part) => `${numberOf(part.after)}`),
          begins.map(String),
        )
      }
      const bad: readonly Query[] = [
        { parts: 0 },
        { parts: 257 },
        { after: 'x' },
        { after: before, before: after },
      ]
      for (const query of bad) {
        const { status, json } = await desk.call('GET', '/tickets/digests', query)
        requireSame(JSON.stringify(query), [status, json?.code], [400, 'invalid_parameter'])
      }
    },
  },
  {
    id: 'digests.rows',
    says: 'A range has count, digests and, where they are few enough and asked for, ids and digests of the rows in it.',
    section: 'Digests of ranges',
    async check(desk) {
      const { after, before } = await rangeOfTickets(desk)
      const { cursor, data } = await digests(desk, { after, before, parts: 4, idsUpTo: 100 })
      const rows = copyOf((await desk.drain('/tickets', beginning)).records)
      // What others have changed since is at its later place.
      const later = (await desk.drain('/tickets', { cursor })).records
      for (const { after: low, before: high, ids = [], contentDigests = [], ...held } of data) {
        const isIn = ({ id }: { id: string }) => id > low && id <= high
        if (later.some(isIn)) continue
        const own = rows.filter(isIn)
        const wanted = { ...(await checkpointOf(own)), contentDigest: await contentDigestOf(own) }
        requireSame(`the range after ${low}`, held, wanted)
        if (own.length > 100) continue
        const sorted = own.toSorted((a, b) => (a.id < b.id ? -1 : 1))
        requireSame(
          'its ids',
          ids,
          sorted.map(({ id }) => id),
        )
        const each = await Promise.all(sorted.map((row) => contentDigestOf([row])))
        requireSame('the digests of its rows', contentDigests, each)
      }
      const few = await digests(desk, { after, before, parts: 1, idsUpTo: 1 })
      requireSame('ids of more than idsUpTo', few.data[0]?.ids, undefined)
    },
  },
  {
    id: 'digests.cursor',
    says: 'The cursor of digests goes on at asOf: what is later is reported from it, and nothing that is not.',
    section: 'Digests of ranges',
    async check(desk) {
      const { customerId } = await rangeOfTickets(desk)
      const { asOf, cursor } = await digests(desk, { parts: 1 })
      const made = await desk.ticket(customerId)
      const { records } = await desk.drain('/tickets', { cursor })
      require(records.some(({ id }) => id === made.id), () =>
        `ticket ${made.id}, made after it, is not reported`)
      const early = records.find(({ updatedAt, removedAt }) => (updatedAt ?? removedAt ?? '') <= asOf)
      require(early === undefined, () => `${early?.id} of ${early?.updatedAt} is reported, asOf is ${asOf}`)
    },
  },
]
