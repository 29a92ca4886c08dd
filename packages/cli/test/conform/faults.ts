/** Deployments that are wrong, each in one way, and the rule that has to notice. */
import type { Answered, Asked, Fault } from './proxy.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of whatever kind
type AnyRecord = any

const isSync = ({ query }: Asked) => query.has('cursor') || query.has('updatedAfter')
const isPage = ({ json }: Answered) => Array.isArray(json?.data) && json.pagination !== undefined

/** Changes the records of every page of a sync. */
const ofSync = (change: (records: AnyRecord[], asked: Asked) => AnyRecord[]): Fault => ({
  answer(asked, answered) {
    if (isSync(asked) && isPage(answered)) answered.json.data = change(answered.json.data, asked)
  },
})

/** Changes the records of every page of a list. */
const ofList = (change: (records: AnyRecord[]) => AnyRecord[]): Fault => ({
  answer(asked, answered) {
    if (!isSync(asked) && isPage(answered)) answered.json.data = change(answered.json.data)
  },
})

const ofPagination = (change: (pagination: AnyRecord, asked: Asked) => void, sync: boolean): Fault => ({
  answer(asked, answered) {
    if (isSync(asked) === sync && isPage(answered)) change(answered.json.pagination, asked)
  },
})

const ofDigests = (change: (answer: AnyRecord) => void): Fault => ({
  answer({ path }, { status, json }) {
    if (path.endsWith('/digests') && status === 200) change(json)
  },
})

/** Leaves a query parameter out. */
const without = (name: string, when: (asked: Asked) => boolean = () => true): Fault => ({
  ask(asked) {
    if (when(asked)) asked.query.delete(name)
    return undefined
  },
})

const removed = ({ object }: AnyRecord) => object === 'removed'

export const faults: Readonly<Record<string, { readonly fault: Fault; readonly rule: string }>> = {
  'lists come oldest first': { fault: ofList((records) => records.toReversed()), rule: 'list.newest-first' },
  'limit is capped at 50': {
    fault: {
      ask({ query }) {
        if (Number(query.get('limit')) > 50) query.set('limit', '50')
        return undefined
      },
    },
    rule: 'list.limit',
  },
  'a limit of nothing is taken': {
    fault: {
      ask({ query }) {
        if (query.get('limit') === '0') query.delete('limit')
        return undefined
      },
    },
    rule: 'list.limit',
  },
  'offset is ignored': { fault: without('offset', (asked) => !isSync(asked)), rule: 'list.offset' },
  'total is that of the page': {
    fault: {
      answer(asked, answered) {
        if (!isSync(asked) && isPage(answered)) answered.json.pagination.total = answered.json.data.length
      },
    },
    rule: 'list.offset',
  },
  'unknown parameters are ignored': { fault: without('conform'), rule: 'list.unknown-parameter' },
  'lists have cursors': {
    fault: ofPagination((pagination) => Object.assign(pagination, { nextCursor: 'x' }), false),
    rule: 'list.no-removals',
  },
  'lists show rows with another order of fields': {
    fault: ofList((records) =>
      records.map((record) => Object.fromEntries(Object.entries(record).toReversed())),
    ),
    rule: 'list.same-bytes',
  },
  'a sync comes newest first': { fault: ofSync((records) => records.toReversed()), rule: 'sync.order' },
  'a sync loses the last record of full pages': {
    fault: ofSync((records, { query }) =>
      records.length === Number(query.get('limit')) && records.length > 1 ? records.slice(0, -1) : records,
    ),
    rule: 'sync.complete',
  },
  'a sync drops removals': {
    fault: ofSync((records) => records.filter((one) => !removed(one))),
    rule: 'sync.complete',
  },
  'a sync repeats a record': {
    fault: ofSync((records) => [...records.slice(0, 1), ...records]),
    rule: 'sync.complete',
  },
  'removals say more than they may': {
    fault: ofSync((records) => records.map((one) => (removed(one) ? { ...one, subject: 'Help' } : one))),
    rule: 'sync.removal-record',
  },
  'tickets of deleted customers are not reported': {
    fault: ofSync((records, { path }) =>
      path === '/v1/tickets' && records.filter(removed).length > 1
        ? records.filter((one) => !removed(one))
        : records,
    ),
    rule: 'sync.cascade',
  },
  'a sync hides the last moment': {
    fault: ofSync((records) =>
      records.filter(({ updatedAt, removedAt }) => Date.parse(removedAt ?? updatedAt) < Date.now() - 1_000),
    ),
    rule: 'sync.at-once',
  },
  'updatedAfter is inclusive': {
    fault: {
      ask({ query }) {
        const time = Date.parse(query.get('updatedAfter') ?? '')
        if (time > 0 && /Z$/.test(query.get('updatedAfter') ?? ''))
          query.set('updatedAfter', new Date(time - 1).toISOString())
        return undefined
      },
    },
    rule: 'sync.watermark',
  },
  'a date is taken for a time': {
    fault: {
      ask({ query }) {
        const text = query.get('updatedAfter') ?? ''
        if (/^\d{4}-\d\d-\d\d$/.test(text)) query.set('updatedAfter', `${text}T00:00:00Z`)
        return undefined
      },
    },
    rule: 'sync.watermark',
  },
  'a sync from the future forgets what comes next': {
    fault: (() => {
      const futures = new Set<string>()
      return {
        answer(asked, answered) {
          if (!isPage(answered)) return
          const future = (asked.query.get('updatedAfter') ?? '') > '2900'
          if (future) futures.add(answered.json.pagination.nextCursor)
          if (futures.has(asked.query.get('cursor') ?? '')) answered.json.data = []
        },
      } satisfies Fault
    })(),
    rule: 'sync.future-watermark',
  },
  'removals stay away after a first sync': {
    fault: (() => {
      let last = ''
      return {
        answer(asked, answered) {
          if (!isPage(answered)) return
          if ((asked.query.get('updatedAfter') ?? '').startsWith('1970'))
            last = answered.json.pagination.nextCursor
          if (asked.query.get('cursor') === last)
            answered.json.data = answered.json.data.filter((one: AnyRecord) => !removed(one))
        },
      } satisfies Fault
    })(),
    rule: 'sync.first',
  },
  'the digest is off by one': {
    fault: ofPagination((pagination) => {
      const { checkpoint } = pagination
      if (typeof checkpoint?.digest !== 'string') return
      const digest = (BigInt(`0x${checkpoint.digest}`) ^ 1n).toString(16).padStart(16, '0')
      pagination.checkpoint = { ...checkpoint, digest }
    }, true),
    rule: 'sync.checkpoint',
  },
  'the contents are others': {
    fault: ofPagination((pagination) => {
      const { checkpoint } = pagination
      if (typeof checkpoint?.contentDigest === 'string')
        pagination.checkpoint = { ...checkpoint, contentDigest: checkpoint.digest }
    }, true),
    rule: 'sync.checkpoint',
  },
  'ids come as they were asked for': {
    fault: {
      answer({ query }, answered) {
        const ids = query.get('ids')?.split(',')
        if (ids === undefined || !isPage(answered)) return
        answered.json.data.sort((a: AnyRecord, b: AnyRecord) => ids.indexOf(a.id) - ids.indexOf(b.id))
      },
    },
    rule: 'list.ids',
  },
  'ids are ignored': { fault: without('ids'), rule: 'list.ids' },
  'a range less than was asked for': {
    fault: ofDigests((answer) => {
      answer.data = answer.data.slice(0, -1)
    }),
    rule: 'digests.ranges',
  },
  'ranges take any number of parts': {
    fault: {
      ask(asked) {
        if (Number(asked.query.get('parts')) > 256) asked.query.set('parts', '256')
        return undefined
      },
    },
    rule: 'digests.ranges',
  },
  'a range counts one more': {
    fault: ofDigests((answer) => {
      answer.data[0].count++
    }),
    rule: 'digests.rows',
  },
  'the contents of ranges are their versions': {
    fault: ofDigests((answer) => {
      for (const part of answer.data) part.contentDigest = part.digest
    }),
    rule: 'digests.rows',
  },
  'the rows of ranges have the digests of none': {
    fault: ofDigests((answer) => {
      for (const part of answer.data) part.contentDigests?.fill('0000000000000000')
    }),
    rule: 'digests.rows',
  },
  'ids are told of any range': {
    fault: {
      ask(asked) {
        if (asked.query.has('idsUpTo')) asked.query.set('idsUpTo', '100')
        return undefined
      },
    },
    rule: 'digests.rows',
  },
  'digests are of an earlier moment than they say': {
    fault: ofDigests((answer) => {
      answer.asOf = '2999-01-01T00:00:00.000Z'
    }),
    rule: 'digests.cursor',
  },
  'there is no checkpoint': {
    fault: ofPagination((pagination) => {
      delete pagination.checkpoint
    }, true),
    rule: 'sync.checkpoint',
  },
  'a cursor is a queue: what it has answered is gone': {
    fault: (() => {
      const taken = new Set<string>()
      return {
        answer(asked, answered) {
          const cursor = asked.query.get('cursor')
          if (cursor === null || !isPage(answered)) return
          if (taken.has(cursor)) answered.json.data = []
          if (answered.json.data.length > 0) taken.add(cursor)
        },
      } satisfies Fault
    })(),
    rule: 'cursor.repeats',
  },
  'updatedAfter wins': {
    fault: without('cursor', ({ query }) => query.has('updatedAfter')),
    rule: 'cursor.wins',
  },
  'a broken cursor begins anew': {
    fault: {
      answer(asked, answered) {
        if (answered.json?.code !== 'invalid_cursor' || asked.path !== '/v1/customers') return
        Object.assign(answered, { status: 200, json: { data: [], pagination: { hasMore: false } } })
      },
    },
    rule: 'cursor.invalid',
  },
  'a sync takes filters': { fault: without('q', isSync), rule: 'sync.no-filters' },
  'wait is ignored': { fault: without('wait'), rule: 'sync.wait' },
  'changes leave the customers out': {
    fault: ofSync((records, { path }) =>
      path === '/v1/changes' ? records.filter(({ object }) => object !== 'customer') : records,
    ),
    rule: 'changes.joined',
  },
}
