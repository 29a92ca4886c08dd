/**
 * The stream in memory: the last version of each object or its removal record, in the order of stamp and id; a clock;
 * and followers with a copy each. Each commit is one step. Predicts every response of the service to the byte.
 */
import { type Checkpoint, checkpointOf } from '../../../testbed/follower.ts'

export type ModelKind = 'customer' | 'conversation' | 'message' | 'ticket' | 'booking'

/** What stands at a place of the stream: the last version of an object, or its removal record. */
export interface Entry {
  readonly kind: ModelKind
  readonly id: string
  readonly at: number
  readonly removed: boolean
  readonly body: string
}

interface Place {
  readonly at: number
  readonly id: string
}

export type Source = ModelKind | 'changes'

/** A reader with a copy of its own. */
export interface ModelFollower {
  readonly source: Source
  limit: number
  copy: Map<string, Entry>
  /** Null before its first page. */
  place: Place | null
  /** Where its last page was read from. */
  before: Place | null
  /** The clock at the first page of its first sync: removals up to it are not reported while it reads what was there. */
  began: number | null
  /** And at the place that the last page was read from. */
  beganBefore: number | null
  caughtUp: boolean
}

export interface ExpectedPage {
  readonly entries: readonly Entry[]
  readonly hasMore: boolean
  readonly total: number
  /** Of each kind of the source, when nothing follows. */
  readonly checkpoints: Readonly<Record<string, Checkpoint>> | null
}

/** The id after all others: with it a place is the end of its millisecond. */
export const highest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export class StreamModel {
  /** The last version of everything that ever was. */
  readonly entries = new Map<string, Entry>()
  readonly followers: ModelFollower[]
  /** The last stamp. */
  clock: number
  readonly #now: () => number

  constructor(now: () => number, sources: readonly Source[]) {
    this.#now = now
    this.clock = now()
    this.followers = sources.map((source) => ({
      source,
      limit: 3,
      copy: new Map(),
      place: null,
      before: null,
      began: null,
      beganBefore: null,
      caughtUp: false,
    }))
  }

  /** The existing objects of a kind, the oldest first. */
  existing(kind: ModelKind): Entry[] {
    return [...this.entries.values()].filter((entry) => entry.kind === kind && !entry.removed)
  }

  /** The stamp of a commit that happens now: later than every one before it, and no earlier than the time. */
  stamp(): number {
    this.clock = Math.max(this.clock + 1, this.#now())
    return this.clock
  }

  /** An object as a commit left it. */
  put(kind: ModelKind, body: string): void {
    const { id, updatedAt } = JSON.parse(body) as { id: string; updatedAt: string }
    this.entries.set(id, { kind, id, at: Date.parse(updatedAt), removed: false, body })
  }

  /** An object with other fields, in the commit of this stamp. */
  move({ kind, body }: Entry, fields: object, at: number): void {
    this.put(kind, JSON.stringify({ ...JSON.parse(body), ...fields, updatedAt: timeText(at) }))
  }

  /**
   * Removes an object, with a customer its tickets, and with a conversation its messages; what else refers to it loses
   * it. `erases`: all that belongs to the customer goes. Returns how many objects went.
   */
  remove(gone: Entry, { erases = false } = {}): number {
    const at = this.stamp()
    const buried: Entry[] = [gone]
    for (const one of buried) {
      this.#bury(one, at)
      const field = `${one.kind}Id`
      for (const entry of [...this.entries.values()]) {
        if (entry.removed || buried.includes(entry) || !entry.body.includes(`"${field}":"${one.id}"`))
          continue
        const goes = one.kind === 'customer' ? erases || entry.kind === 'ticket' : entry.kind === 'message'
        if (goes) buried.push(entry)
        else if (!buried.some(({ id }) => id === entry.id)) this.move(entry, { [field]: null }, at)
      }
    }
    return buried.length
  }

  #bury({ kind, id }: Entry, at: number): void {
    const body = JSON.stringify({ object: 'removed', id, resource: kind, removedAt: timeText(at) })
    this.entries.set(id, { kind, id, at, removed: true, body })
  }

  /** The page that a follower has to get, from its place on; and the follower as it is then. */
  read(follower: ModelFollower, from: 'start' | 'next' | 'again' | 'watermark'): ExpectedPage {
    if (from === 'start') {
      follower.copy = new Map()
      follower.place = { at: 0, id: highest }
      follower.began = this.clock
    } else if (from === 'again') {
      follower.place = follower.before
      follower.began = follower.beganBefore
    } else if (from === 'watermark') {
      follower.place = { at: follower.place?.at ?? 0, id: highest }
      follower.began = null
    }
    const place = follower.place ?? { at: 0, id: highest }
    const { began } = follower
    const kinds = kindsOf(follower.source)
    const ahead = this.ahead(follower)
    const entries = ahead.slice(0, follower.limit)
    const last = entries.at(-1)
    follower.before = place
    follower.beganBefore = began
    follower.place = last ?? place
    if (began !== null && follower.place.at > began) follower.began = null
    for (const entry of entries) {
      if (entry.removed) follower.copy.delete(entry.id)
      else follower.copy.set(entry.id, entry)
    }
    const hasMore = ahead.length > entries.length
    follower.caughtUp = !hasMore
    const totals = kinds.map(
      (kind) => [kind, checkpointOf(this.existing(kind).map(({ body }) => body))] as const,
    )
    return {
      entries,
      hasMore,
      total: totals.reduce((sum, [, { count }]) => sum + count, 0),
      checkpoints: hasMore ? null : Object.fromEntries(totals),
    }
  }

  /** What follows a follower's place. */
  ahead({ source, place, began }: ModelFollower): readonly Entry[] {
    const kinds = kindsOf(source)
    const from = place ?? { at: 0, id: highest }
    return [...this.entries.values()]
      .filter(({ kind }) => kinds.includes(kind))
      .filter((entry) => isAfter(entry, from) && (!entry.removed || entry.at > (began ?? 0)))
      .sort((a, b) => (isAfter(a, b) ? 1 : -1))
  }

  /** How a copy that has caught up differs from what exists: not at all. */
  drift({ source, copy }: ModelFollower): string[] {
    const existing = new Map(
      kindsOf(source).flatMap((kind) => this.existing(kind).map(({ id, body }) => [id, body] as const)),
    )
    return [
      ...[...existing].flatMap(([id, body]) => (copy.get(id)?.body === body ? [] : [`not as it is: ${id}`])),
      ...[...copy.keys()].flatMap((id) => (existing.has(id) ? [] : [`left over: ${id}`])),
    ]
  }
}

const allKinds: readonly ModelKind[] = ['customer', 'conversation', 'message', 'ticket', 'booking']

function kindsOf(source: Source): readonly ModelKind[] {
  return source === 'changes' ? allKinds : [source]
}

function isAfter(a: Place, b: Place): boolean {
  return a.at === b.at ? a.id > b.id : a.at > b.at
}

export function timeText(at: number): string {
  return new Date(at).toISOString()
}
