/**
 * What an account of another helpdesk holds, in rows of ours: what the mappings of Zendesk and Intercom have in
 * common.
 */
import { clipped } from '@deskwire/sdk/clipped'
import { type Kind, kinds } from '@deskwire/service/kinds'

export type Json = Readonly<Record<string, unknown>>

/** A record that did not arrive as it is, for the file that lists them. */
export interface Listed {
  /** What it is there: `ticket`, `comment`. */
  readonly kind: string
  readonly id: string
  /** `left out`: on purpose; `refused`: it could not be taken; `changed`: it arrived, and not all of it as it was. */
  readonly outcome: 'left out' | 'refused' | 'changed'
  readonly reason: string
}

/** Who wrote something. `agent` is the id of a teammate in the other helpdesk. */
export interface Author {
  readonly type: 'customer' | 'teammate' | 'ai' | 'system'
  readonly agent?: string
  readonly name?: string
}

/** Someone who works there. */
export interface Agent {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly isActive: boolean
  readonly createdAt: string | null
}

export interface Customer {
  readonly id: string
  readonly row: Json
  readonly listed: readonly Listed[]
}

/** A message, or an internal note, of a thread. Long texts make several with one id. */
export interface Comment {
  readonly kind: 'message' | 'note'
  readonly id: string
  readonly thread: string
  readonly author: Author
  /** Without its conversation and its author. */
  readonly row: Json
}

/** A ticket of Zendesk, a conversation of Intercom. */
export interface Thread {
  readonly id: string
  /** The id of the customer there. */
  readonly customer: string
  /** A customer to make for it, where the people of the account do not have one. */
  readonly newCustomer: Customer | null
  readonly assignee: string | null
  /** Without customer and assignee. */
  readonly conversation: Json
  readonly ticket: Json | null
  readonly comments: readonly Comment[]
  readonly listed: readonly Listed[]
}

/** What a record is to the importer. Those of `names` and `ignored` make no rows. */
export type Sort = 'person' | 'thread' | 'comments' | 'names' | 'ignored'

/** A helpdesk whose exports can be read. It is shown every record once before it maps any. */
export interface Account {
  /** Begins the externalIds of its rows. */
  readonly prefix: string
  /** Its name, and what a record of each sort is called. */
  readonly title: string
  readonly words: { readonly agent: string; readonly customer: string; readonly thread: string }
  readonly wanted: string
  /** The members of pages whose elements are records. */
  readonly lists: ReadonlySet<string>
  /** Null for what is no record of this helpdesk. */
  sortOf(record: Json, list: string | null): Sort | null
  /** Takes note of people, names and threads. */
  survey(record: Json, sort: Sort): void
  /** All people who work there, once everything was surveyed. */
  agents(): readonly Agent[]
  /** How many customers there are. */
  customers(): number
  /** Why nothing can be imported from what was surveyed; null: it can. */
  incomplete(): string | null
  /** Null for one who is no customer. `same` is another's id who has the same e-mail address. */
  customerOf(record: Json): Customer | { readonly id: string; readonly same: string } | null
  /** Null for a state that a later record of the same thread replaces. */
  threadOf(record: Json): Thread | Listed | null
  commentsOf(record: Json): { readonly comments: readonly Comment[]; readonly listed: readonly Listed[] }
  /** Whether a mapping reads the value at this path of a record: what it does not read may be anything. */
  reads(path: readonly string[]): boolean
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects of a list; none for anything else. */
export function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : []
}

/** An id, a number or text there. */
export function idOf(value: unknown): string | null {
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null
}

/** A text that says something. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** The kind of this name, as this release declares it. */
export function kindOf(name: string): Kind {
  const kind = kinds.find((one) => one.name === name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  return kind
}

/** Whether the field of a kind takes the value. */
export function fits(kind: string, field: string, value: unknown): boolean {
  return kindOf(kind).fields[field]?.schema.safeParse(value).success === true
}

/** A time as an export writes it: RFC 3339, or seconds since 1970. */
export function timeOf(value: unknown): string | null {
  const at =
    typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!(Math.abs(at) < 8.64e15) || (typeof value === 'string' && !/^\d{4}-\d\d-\d\dT/.test(value)))
    return null
  return new Date(at).toISOString()
}

export function laterOf(one: string, other: string): string {
  return one > other ? one : other
}

/** A text as pieces of at most `most` units, which end behind one of the marks where there is one near the end. */
export function piecesOf(text: string, most: number, marks: readonly string[]): string[] {
  const pieces: string[] = []
  let left = text
  while (left.length > most) {
    const piece = clipped(left, most, '')
    const nearEnd = piece.length - 2_000
    const at = marks.map((mark) => piece.lastIndexOf(mark)).find((end) => end > nearEnd) ?? piece.length - 1
    pieces.push(left.slice(0, at + 1))
    left = left.slice(at + 1)
  }
  pieces.push(left)
  return pieces
}

/** A text that can be stored: U+0000 and halves of surrogate pairs are replaced. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}

/** A text that can be stored, of at most 255 characters, with an ellipsis where it is cut. */
export function lineOf(text: string, most = 255): string {
  const stored = storable(text)
  return stored.length <= most ? stored : clipped(stored, most - 1)
}

const [mostAttributes, longestName, longestText] = [50, 40, 500]
const [mostTags, longestTag] = [50, 50]

/** Collects what becomes of a record beyond its rows: attributes, tags, and what did not fit. */
export class Fitting {
  readonly listed: Listed[] = []
  readonly #attributes = new Map<string, string | number | boolean>()
  readonly #of: { readonly kind: string; readonly id: string }

  constructor(kind: string, id: string) {
    this.#of = { kind, id }
  }

  get attributes(): Json {
    // fromEntries defines keys rather than assigning them: "__proto__" is a key like any other.
    return Object.fromEntries(this.#attributes)
  }

  list(outcome: Listed['outcome'], reason: string): void {
    this.listed.push({ ...this.#of, outcome, reason })
  }

  /** Keeps a value under a name of one's own. Null, an empty text and an empty list say nothing. */
  keep(name: string, value: unknown): void {
    const flat = flatOf(value)
    if (flat === null) return
    const free = this.#nameFor(name.replaceAll('\u0000', '').trim() || 'unnamed')
    if (this.#attributes.size >= mostAttributes)
      this.list('changed', `it has more than ${mostAttributes} attributes: left out is ${name}: ${flat}`)
    else if (typeof flat !== 'string') this.#attributes.set(free, flat)
    else this.#attributes.set(free, this.cut(this.text(flat, name), longestText, name))
  }

  /** The beginning of a text that is too long; the rest is listed. */
  cut(text: string, most: number, what: string): string {
    const kept = clipped(text, most, '')
    if (kept !== text) {
      const rest = JSON.stringify(text.slice(kept.length))
      this.list(
        'changed',
        `${what} has ${text.length} characters and is cut to ${kept.length}: left out is ${rest}`,
      )
    }
    return kept
  }

  /** The value where the field of the kind takes it; otherwise it is kept as an attribute. */
  field(kind: string, field: string, value: unknown, name = field): unknown {
    if (value === null || value === undefined || value === '') return null
    if (fits(kind, field, value)) return value
    this.keep(name, value)
    return null
  }

  /** A name or a subject of at most 255 characters; the whole is kept as an attribute where it is longer. */
  line(value: unknown, name: string): string | null {
    const text = textOf(value)
    if (text === null) return null
    const stored = this.text(text, name)
    const line = lineOf(stored)
    if (line !== stored) this.keep(name, stored)
    return line
  }

  /** Labels that ours can be; the others are listed. */
  tags(value: unknown): readonly string[] {
    const given = Array.isArray(value) ? value.filter((one): one is string => textOf(one) !== null) : []
    const fitting = [...new Set(given)].filter(
      (one) => [...one].length <= longestTag && !one.includes('\u0000'),
    )
    const taken = fitting.slice(0, mostTags)
    const lost = [...new Set(given)].filter((one) => !taken.includes(one))
    if (lost.length > 0)
      this.list('changed', `${lost.length} tags did not fit and are left out: ${lost.join(', ')}`)
    return taken
  }

  /** A text that can be stored: without U+0000, which is listed. */
  text(value: string, what: string): string {
    const stored = storable(value)
    if (stored === value) return value
    this.list(
      'changed',
      `${what} has U+0000 or half a surrogate pair, which cannot be stored: it is replaced by U+FFFD`,
    )
    return stored
  }

  #nameFor(name: string): string {
    const short = clipped(name, longestName, '')
    for (let n = 1; ; n++) {
      const free = n === 1 ? short : `${clipped(short, longestName - 4, '')} ${n}`
      if (!this.#attributes.has(free)) return free
    }
  }
}

function flatOf(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return value === '' ? null : value
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (value === null || value === undefined) return null
  if (!Array.isArray(value)) return JSON.stringify(value)
  if (value.length === 0) return null
  return value.every((one) => typeof one === 'string' || typeof one === 'number')
    ? value.join(', ')
    : JSON.stringify(value)
}

/** Longest text of a message or note. */
const longestBody = 64_000
const mostAttachments = 15

interface ThreadPart {
  readonly id: string
  readonly thread: string
  readonly kind: Comment['kind']
  readonly author: Author
  readonly createdAt: string | null
  readonly body: string | null
  readonly contentType: 'text' | 'html'
  readonly attachments: readonly {
    readonly name: string
    readonly type: string
    readonly size: number
    readonly url: string
  }[]
  /** Of the messages of this helpdesk: `zendesk-7`. */
  readonly externalId: string
}

/**
 * The rows that a comment makes: none where it says nothing, several where its text is longer than a message can be.
 * Attachments are links, in the text of a note and where a message cannot hold them otherwise.
 */
export function commentRows(part: ThreadPart, fitting: Fitting): readonly Comment[] {
  const { id, thread, kind, author, contentType } = part
  const links = part.attachments.map((one) => ({
    fileName: lineOf(one.name || 'attachment'),
    contentType: one.type || 'application/octet-stream',
    sizeBytes: one.size,
    url: one.url,
  }))
  const held =
    kind === 'message'
      ? links.filter((link) => fits('message', 'attachments', [link])).slice(0, mostAttachments)
      : []
  const others = links.filter((link) => !held.includes(link))
  const written = others.map((link) => linkText(link.fileName, link.url, contentType))
  const texts = [textOf(part.body), ...written].filter((text) => text !== null)
  if (texts.length === 0 && held.length === 0) return []
  const whole = fitting.text(texts.join('\n'), 'its text')
  if (part.createdAt === null)
    fitting.list('changed', 'has no time that can be read: the time of the import is taken')
  const pieces =
    whole === '' ? [null] : piecesOf(whole, longestBody, contentType === 'html' ? ['>', ' '] : ['\n', ' '])
  const direction = author.type === 'customer' ? 'inbound' : 'outbound'
  return pieces.map((body, n): Comment => {
    const common = { body, ...(part.createdAt === null ? {} : { createdAt: part.createdAt }) }
    if (kind === 'note') return { kind, id, thread, author, row: common }
    const externalId = n === 0 ? part.externalId : `${part.externalId}-${n + 1}`
    const row = { externalId, direction, ...common, contentType, ...(n === 0 ? { attachments: held } : {}) }
    return { kind, id, thread, author, row }
  })
}

/**
 * The comments of one record in their order. Exports have whole seconds: of those with the same time, each is a
 * millisecond later than the one before, as the desk orders by time.
 */
export function inOrder(comments: readonly Comment[]): readonly Comment[] {
  let [given, time] = [0, 0]
  return comments.map((comment) => {
    const at = Date.parse(String(comment.row.createdAt))
    if (Number.isNaN(at)) return comment
    time = at === given ? time + 1 : at
    given = at
    return { ...comment, row: { ...comment.row, createdAt: new Date(time).toISOString() } }
  })
}

function linkText(name: string, url: string, contentType: 'text' | 'html'): string {
  if (contentType === 'text') return `${name}: ${url}`
  const [text, address] = [name, url].map((one) =>
    one.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  )
  return `<p><a href="${address}">${text}</a></p>`
}
