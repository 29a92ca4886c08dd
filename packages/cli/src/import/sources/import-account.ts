/**
 * Takes an account of another helpdesk into the desk: teammates, customers, then threads with what was said in them,
 * each with the id that it had. Promise: every record arrives or is listed with the reason, and running it again
 * changes nothing.
 *
 * A rehearsal runs the same code against a desk that stores nothing, so that its verdicts are those of the run.
 */
import type { ItemOutcome, ItemProblem } from '@deskwire/sdk'
import { faultText } from '../fault.ts'
import type { Rejects } from '../rejects.ts'
import type { Account, Author, Comment, Customer, Json, Listed, Thread } from './account.ts'
import { type Desk, faultOf } from './desk.ts'
import type { AccountProgress, Counts, RowCounts } from './progress.ts'
import { recordsOf, type Surveyed } from './survey.ts'

/** Bounds of a call: the service takes 1,000 rows and 16 MiB. */
const rowsOfCall = 1_000
const bytesOfCall = 8 * 2 ** 20
/** Threads and comments that are taken together. */
const recordsOfChunk = 2_000

const lookUpsAtOnce = 8

export const noCounts: Counts = { comments: 0, rows: {}, listed: { 'left out': 0, refused: 0, changed: 0 } }

interface Run {
  readonly account: Account
  readonly surveyed: Surveyed
  readonly desk: Desk
  /** Where it is; null at the beginning. */
  readonly progress: AccountProgress | null
  readonly of: AccountProgress['of']
  readonly rejects: Rejects
  /** Called after each chunk, before the next one is sent. */
  onProgress(progress: AccountProgress, listed: readonly Listed[]): Promise<void>
}

/** A row to send, and the record that it is of. */
interface Item {
  readonly row: Json
  readonly kind: string
  readonly id: string
}

type Arrived = { readonly id: string; readonly outcome: 'created' | 'present' } | null

/**
 * Returns the progress at the end. Throws what the desk throws; what was not done then is done by a run that begins
 * at the progress.
 */
export async function importAccount({
  account,
  surveyed,
  desk,
  rejects,
  onProgress,
  ...run
}: Run): Promise<AccountProgress> {
  const isResumed = run.progress !== null
  const agents = account.agents()
  const agentIds = new Set(agents.map(({ id }) => id))
  const known = await desk.teammates()
  const teammates = new Map<string, string>()
  for (const agent of agents) {
    const found = known.find(({ email, name }) =>
      agent.email === null ? email === null && name === agent.name : email === addressOf(agent.email),
    )
    if (found !== undefined) teammates.set(agent.id, found.id)
  }

  let listed: Listed[] = []
  let rows: Record<string, RowCounts> = { ...run.progress?.counts.rows }
  let comments = run.progress?.counts.comments ?? 0
  const done = { person: 0, thread: 0, comments: 0, ...run.progress?.done }
  const customers = new Map(Object.entries(run.progress?.customers ?? {}))
  const madeCustomers = new Set(run.progress?.made)
  const refused = new Set(run.progress?.refused)
  const leaving =
    run.progress?.leaving ??
    agents.filter(({ id, isActive }) => !isActive && !teammates.has(id)).map(({ id }) => id)
  let listedCounts = run.progress?.counts.listed ?? noCounts.listed
  let progress: AccountProgress = run.progress ?? stateOf(null)
  /** The conversations of threads as far as this process knows them; null for one that it made, which had no notes. */
  const conversations = new Map<string, string | null>()

  if (!isResumed) listed.push(...surveyed.unrecognized)
  await takeAgents()
  await inChunks('person', rowsOfCall, readPerson, sendCustomers)
  await inChunks('thread', recordsOfChunk, readThread, sendThreads, (thread) => 2 + thread.comments.length)
  await inChunks('comments', recordsOfChunk, readComments, sendComments)
  for (const agent of leaving) {
    const id = teammates.get(agent)
    if (id !== undefined) await desk.deactivate(id)
  }
  return progress

  function stateOf(file: AccountProgress['listed']): AccountProgress {
    return {
      of: run.of,
      done: { ...done },
      counts: { comments, rows, listed: listedCounts },
      customers: Object.fromEntries(customers),
      made: [...madeCustomers],
      refused: [...refused],
      leaving,
      listed: file,
    }
  }

  /** Writes down what was done: listed records first, as the progress counts them. */
  async function keep(): Promise<void> {
    const entries = listed
    listed = []
    const counts = { ...listedCounts }
    for (const { outcome } of entries) counts[outcome]++
    listedCounts = counts
    const file = await rejects.append(
      entries.map(({ kind, id, outcome, reason }, line) => ({
        line,
        cells: [kind, id, outcome],
        error: reason,
      })),
    )
    progress = stateOf(file)
    await onProgress(progress, entries)
  }

  function count(kind: string, by: Partial<RowCounts>): void {
    const { created, present, refused } = rows[kind] ?? { created: 0, present: 0, refused: 0 }
    rows = {
      ...rows,
      [kind]: {
        created: created + (by.created ?? 0),
        present: present + (by.present ?? 0),
        refused: refused + (by.refused ?? 0),
      },
    }
  }

  async function takeAgents(): Promise<void> {
    const missing = agents.filter(({ id }) => !teammates.has(id))
    if (!isResumed) count('teammate', { present: agents.length - missing.length })
    // Those who left have to be active as long as work is assigned to them.
    const items = missing.map(({ id, name, email, createdAt }) => ({
      row: { name, email, active: true, ...(createdAt === null ? {} : { createdAt }) },
      kind: account.words.agent,
      id,
    }))
    await keep()
    const arrived = await send('teammate', items)
    for (const [n, one] of arrived.entries()) if (one !== null) teammates.set(items[n]?.id ?? '', one.id)
    await keep()
  }

  /** Takes the records of a sort that are not done yet, in chunks. `read` gives what a record adds to its chunk. */
  async function inChunks<T>(
    sort: keyof AccountProgress['done'],
    most: number,
    read: (record: Json, fault: string | null) => readonly T[],
    sendChunk: (chunk: readonly T[]) => Promise<void>,
    sizeOf: (one: T) => number = () => 1,
  ): Promise<void> {
    const skipped = done[sort]
    let chunk: T[] = []
    let [taken, size] = [0, 0]
    const flush = async () => {
      await sendChunk(chunk)
      done[sort] = taken
      chunk = []
      size = 0
      await keep()
    }
    for await (const { record, fault } of recordsOf(account, surveyed, sort)) {
      if (taken++ < skipped) continue
      for (const one of read(record, fault)) {
        chunk.push(one)
        size += sizeOf(one)
      }
      if (size >= most) await flush()
    }
    if (taken > skipped) await flush()
  }

  function readPerson(record: Json, fault: string | null): readonly Customer[] {
    const customer = account.customerOf(record)
    if (customer === null) return []
    const { id } = customer
    const list = (reason: string) =>
      listed.push({ kind: account.words.customer, id, outcome: 'changed', reason })
    if ('same' in customer) {
      customers.set(id, { customerExternalId: ours(customer.same) })
      count('customer', { present: 1 })
      list(`has the e-mail address of ${customer.same}: what it wrote is with that customer`)
      return []
    }
    if (fault === null) return [customer]
    list(`has its id only: ${fault}`)
    return [{ id, row: { externalId: customer.row.externalId }, listed: [] }]
  }

  async function sendCustomers(all: readonly Customer[]): Promise<void> {
    const items = all.map(({ id, row }) => ({ row, kind: account.words.customer, id }))
    for (const one of all) listed.push(...one.listed)
    await send('customer', items)
  }

  function readThread(record: Json, fault: string | null): readonly Thread[] {
    const thread = account.threadOf(record)
    if (thread === null) return []
    if ('customer' in thread && fault === null) return [thread]
    listed.push(
      'customer' in thread
        ? { kind: account.words.thread, id: thread.id, outcome: 'refused', reason: fault ?? '' }
        : thread,
    )
    refused.add(thread.id)
    count('conversation', { refused: 1 })
    return []
  }

  async function sendThreads(threads: readonly Thread[]): Promise<void> {
    const missing = threads.flatMap(({ newCustomer }) =>
      newCustomer === null || madeCustomers.has(newCustomer.id) ? [] : [newCustomer],
    )
    const unique = [...new Map(missing.map((one) => [one.id, one])).values()]
    for (const { id } of unique) madeCustomers.add(id)
    if (unique.length > 0) await sendCustomers(unique)

    const kind = account.words.thread
    const rowsOf = (thread: Thread, row: Json): Json => {
      const assigneeId = thread.assignee === null ? undefined : teammates.get(thread.assignee)
      const customer = customers.get(thread.customer) ?? { customerExternalId: ours(thread.customer) }
      return { ...row, ...customer, ...(assigneeId === undefined ? {} : { assigneeId }) }
    }
    for (const { id, assignee, listed: found } of threads) {
      listed.push(...found)
      if (assignee !== null && !agentIds.has(assignee))
        listed.push({
          kind,
          id,
          outcome: 'changed',
          reason: `its assignee ${assignee} is not in the files: nobody is assigned`,
        })
    }
    const arrived = await send(
      'conversation',
      threads.map((thread) => ({ row: rowsOf(thread, thread.conversation), kind, id: thread.id })),
    )
    const there = threads.filter((thread, n) => {
      const one = arrived[n] ?? null
      if (one === null) refused.add(thread.id)
      else conversations.set(thread.id, one.outcome === 'created' ? null : one.id)
      return one !== null
    })
    await sendComments(there.flatMap((thread) => thread.comments))
    const tickets = there.flatMap((thread) =>
      thread.ticket === null
        ? []
        : [
            {
              row: { ...rowsOf(thread, thread.ticket), conversationExternalId: ours(thread.id) },
              kind,
              id: thread.id,
            },
          ],
    )
    await send('ticket', tickets)
  }

  function readComments(record: Json, fault: string | null): readonly Comment[] {
    const found = account.commentsOf(record)
    listed.push(...found.listed)
    if (fault !== null)
      for (const id of new Set(found.comments.map((comment) => comment.id)))
        listed.push({ kind: 'comment', id, outcome: 'refused', reason: fault })
    return found.comments.filter(({ kind, thread }) => {
      const isTaken = fault === null && !refused.has(thread)
      if (!isTaken) count(kind, { refused: 1 })
      return isTaken
    })
  }

  async function sendComments(given: readonly Comment[]): Promise<void> {
    comments += new Set(given.map(({ kind, id }) => `${kind} ${id}`)).size
    const itemOf = ({ id, thread, author, row }: Comment): Item => ({
      row: { ...row, conversationExternalId: ours(thread), author: authorOf(author) },
      kind: 'comment',
      id,
    })
    await send('message', given.filter(({ kind }) => kind === 'message').map(itemOf))
    const notes = await newNotes(given.filter(({ kind }) => kind === 'note'))
    await send('note', notes.map(itemOf))
  }

  /**
   * Notes have no externalId: of threads that an earlier run made, those that are there are known by their time and
   * author.
   */
  async function newNotes(notes: readonly Comment[]): Promise<readonly Comment[]> {
    const found = new Map<string, string[]>()
    const threads = [...new Set(notes.map(({ thread }) => thread))]
    const older = threads.filter((thread) => conversations.get(thread) !== null)
    const look = async (thread: string) => {
      const id = conversations.get(thread) ?? (await desk.conversation(ours(thread)))
      const there = id === null ? [] : await desk.notesOf(id)
      found.set(
        thread,
        there.map((note) => noteKey(note.createdAt, note.author)),
      )
    }
    for (let from = 0; from < older.length; from += lookUpsAtOnce)
      await Promise.all(older.slice(from, from + lookUpsAtOnce).map(look))
    const left = notes.filter(({ thread, row, author }) => {
      const there = found.get(thread) ?? []
      const n = there.indexOf(noteKey(row.createdAt, author))
      if (n !== -1) there.splice(n, 1)
      return n === -1
    })
    count('note', { present: notes.length - left.length })
    return left
  }

  function authorOf({ type, agent, name }: Author): Json {
    const id = agent === undefined ? undefined : teammates.get(agent)
    return { type, ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) }
  }

  function ours(id: string): string {
    return `${account.prefix}-${id}`
  }

  /**
   * Sends rows; what is refused for another row's sake is sent again without it. Lists and counts what became of
   * them.
   */
  async function send(kind: string, items: readonly Item[]): Promise<readonly Arrived[]> {
    const arrived = new Map<Item, Arrived>()
    let open = items.filter((item) => {
      const fault = faultOf(kind, item.row)
      if (fault === null) return true
      if (kind !== 'customer') refuse(kind, item, fault)
      return kind === 'customer'
    })
    const rowOf = new Map<Item, Json>()
    for (const item of open) {
      const fault = kind === 'customer' ? faultOf(kind, item.row) : null
      if (fault === null) continue
      // Tickets need their customer.
      rowOf.set(item, { externalId: item.row.externalId })
      listed.push({ kind: item.kind, id: item.id, outcome: 'changed', reason: `has its id only: ${fault}` })
    }
    for (let attempt = 0; open.length > 0; attempt++) {
      const again: Item[] = []
      for (const batch of batchesOf(open, (item) => rowOf.get(item) ?? item.row)) {
        const outcomes = await desk.import(
          kind,
          batch.map((item) => rowOf.get(item) ?? item.row),
        )
        for (const [n, item] of batch.entries()) {
          const outcome = outcomes[n]
          if (outcome !== undefined && outcome.outcome !== 'refused') arrived.set(item, arrivedAs(outcome))
          else if (outcome !== undefined && attempt < 3 && amend(kind, item, rowOf, outcome.problem))
            again.push(item)
          else if (customers.has(item.id) && kind === 'customer') arrived.set(item, null)
          else
            refuse(
              kind,
              item,
              outcome === undefined ? 'the service did not answer it' : faultText(outcome.problem),
            )
        }
      }
      open = again
    }
    const all = items.map((item) => arrived.get(item) ?? null)
    count(kind, {
      created: all.filter((one) => one?.outcome === 'created').length,
      present: all.filter((one) => one?.outcome === 'present').length,
    })
    return all
  }

  function refuse(kind: string, { kind: what, id }: Item, reason: string): void {
    listed.push({
      kind: what,
      id,
      outcome: 'refused',
      reason: kind === what ? reason : `its ${kind} is refused: ${reason}`,
    })
    count(kind, { refused: 1 })
  }

  /** Whether the row is to be sent again, after a change that lets it in. */
  function amend(
    kind: string,
    item: Item,
    rowOf: Map<Item, Json>,
    { code, errors, existingId }: ItemProblem,
  ): boolean {
    const row = rowOf.get(item) ?? item.row
    const change = (without: string, reason: string): boolean => {
      const { [without]: _, ...left } = row
      rowOf.set(item, left)
      listed.push({ kind: item.kind, id: item.id, outcome: 'changed', reason })
      return true
    }
    if (kind === 'customer' && code === 'duplicate' && existingId !== undefined) {
      customers.set(item.id, { customerId: existingId })
      count('customer', { present: 1 })
      return false
    }
    if (kind === 'ticket' && code === 'duplicate' && row.number !== undefined)
      return change('number', `the number ${row.number} is taken: it has the next free one`)
    if (row.assigneeId !== undefined && errors?.some(({ pointer }) => pointer === '/assigneeId'))
      return change('assigneeId', 'its assignee is an inactive teammate by now: nobody is assigned')
    return false
  }
}

function arrivedAs(outcome: Exclude<ItemOutcome, { outcome: 'refused' }>): Arrived {
  return { id: outcome.id, outcome: outcome.outcome === 'created' ? 'created' : 'present' }
}

function addressOf(email: string): string {
  return email.normalize('NFC').toLowerCase()
}

function noteKey(
  createdAt: unknown,
  { type, name }: { readonly type: string; readonly name?: string },
): string {
  return JSON.stringify([createdAt, type, name])
}

/** Rows for one call each, in their order. The service takes an externalId once a call. */
function* batchesOf(
  items: readonly Item[],
  rowOf: (item: Item) => Json,
): Generator<readonly Item[], void, undefined> {
  let batch: Item[] = []
  let bytes = 0
  let ids = new Set<unknown>()
  for (const item of items) {
    const { externalId, ...row } = rowOf(item)
    const size = Buffer.byteLength(JSON.stringify(row))
    const isFull = batch.length >= rowsOfCall || bytes + size > bytesOfCall
    if (batch.length > 0 && (isFull || (externalId !== undefined && ids.has(externalId)))) {
      yield batch
      batch = []
      bytes = 0
      ids = new Set()
    }
    batch.push(item)
    bytes += size
    ids.add(externalId)
  }
  if (batch.length > 0) yield batch
}
