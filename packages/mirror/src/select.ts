/**
 * What a copy keeps of the desk. Rows pass through it before anything else of the mirror sees them, so that nothing
 * else ever reaches a store. A row that is kept in part is compared by its id and version with checkpoints, and as a
 * whole after the same selection.
 */

import { createHmac } from 'node:crypto'
import { clipped } from '@deskwire/sdk/clipped'
import { MirrorError } from './error.ts'
import { type Members, updatedAtOf } from './row.ts'
import type { Kind } from './schema.ts'

export interface Selection {
  /** By the names of tables: `['customers', 'tickets']`. Default: all that the key may read. */
  readonly kinds?: readonly string[]
  /** Fields that are not kept: `['messages.body']`. */
  readonly exclude?: readonly string[]
  /** Fields of which an HMAC-SHA-256 under `hashKey` is kept, in hexadecimal digits: `['customers.email']`. */
  readonly hash?: readonly string[]
  /** Whether `_body` is kept. Without, it has the version alone. Default: true. */
  readonly body?: boolean
}

/** As it is noted with the copy. */
export interface NotedSelection extends Selection {
  /** By which another key is noticed. */
  readonly keyCheck?: string
}

export interface ChosenRow {
  readonly text: string
  readonly members: Members
}

type Choose = (members: Members) => ChosenRow

const shortestKey = 16

export class Chooser {
  readonly #selection: NotedSelection
  readonly #key: string | undefined
  readonly #chosen = new Map<string, Choose | undefined>()

  constructor(selection: NotedSelection = {}, key?: string) {
    this.#selection = selection
    this.#key = key
  }

  get hasBody(): boolean {
    return this.#selection.body !== false
  }

  keeps(plural: string): boolean {
    return this.#selection.kinds?.includes(plural) ?? true
  }

  /** How a row is reduced; undefined for a kind that is kept as it is served. */
  of(plural: string): Choose | undefined {
    if (!this.#chosen.has(plural)) this.#chosen.set(plural, this.#choose(plural))
    return this.#chosen.get(plural)
  }

  /** Whether rows of the kind are kept in part. */
  reduces(plural: string): boolean {
    const { exclude = [], hash = [] } = this.#selection
    return !this.hasBody || [...exclude, ...hash].some((field) => field.startsWith(`${plural}.`))
  }

  /** The kind with the columns that are kept. */
  kind(kind: Kind): Kind {
    const has = (fields: readonly string[] = [], field: string) => fields.includes(`${kind.plural}.${field}`)
    const { exclude, hash } = this.#selection
    const columns = kind.columns
      .filter(({ field }) => !has(exclude, field))
      .map((column) =>
        has(hash, column.field)
          ? { ...column, type: 'text' as const, refers: false, comment: `HMAC-SHA-256 of: ${column.comment}` }
          : column,
      )
    return { ...kind, columns }
  }

  #choose(plural: string): Choose | undefined {
    if (!this.reduces(plural)) return undefined
    const of = (fields: readonly string[] = []) =>
      new Set(
        fields.flatMap((field) => (field.startsWith(`${plural}.`) ? [field.slice(plural.length + 1)] : [])),
      )
    const [excluded, hashed] = [of(this.#selection.exclude), of(this.#selection.hash)]
    const { hasBody } = this
    return (all) => {
      const members: Record<string, unknown> = {}
      for (const [field, value] of Object.entries(all)) {
        if (excluded.has(field)) continue
        members[field] = hashed.has(field) ? this.#hashed(value) : value
      }
      const text = JSON.stringify(hasBody ? members : { updatedAt: updatedAtOf(members) })
      return { text, members }
    }
  }

  #hashed(value: unknown): unknown {
    if (value === null || value === undefined) return value
    if (this.#key === undefined) throw needsKey()
    return createHmac('sha256', this.#key)
      .update(typeof value === 'string' ? value : JSON.stringify(value))
      .digest('hex')
  }
}

/** The selection of a new copy as it is noted; undefined for everything. @throws MirrorError for what it cannot be. */
export function notedSelection(
  given: Selection | undefined,
  key: string | undefined,
  declared: ReadonlyMap<string, Kind>,
  readable: readonly string[],
): NotedSelection | undefined {
  const { kinds, exclude, hash, body } = sorted(given ?? {})
  const plurals = new Map([...declared.values()].map((kind) => [kind.plural, kind]))
  for (const plural of kinds ?? []) {
    const name = plurals.get(plural)?.name
    if (name === undefined) throw unknown('kind', plural, [...plurals.keys()])
    if (!readable.includes(name)) throw new MirrorError(`The key may not read ${plural}.`)
  }
  for (const path of [...(exclude ?? []), ...(hash ?? [])]) {
    const [plural = '', field = '', ...more] = path.split('.')
    const fields = plurals.get(plural)?.columns.map((column) => column.field)
    if (fields === undefined || more.length > 0)
      throw unknown('field', path, [`${[...plurals.keys()].join('|')}, a dot and a field`])
    if (!fields.includes(field)) throw unknown(`field of ${plural}`, field, fields)
    if (field === 'id' || field === 'updatedAt')
      throw new MirrorError(`${path} has to be kept as it is: the copy is proved by it.`)
  }
  const twice = exclude?.find((field) => hash?.includes(field))
  if (twice !== undefined) throw new MirrorError(`${twice} is both excluded and hashed. Choose one.`)
  if (hash !== undefined && key === undefined) throw needsKey()
  if (key !== undefined && key.length < shortestKey)
    throw new MirrorError(`The key of hashes needs at least ${shortestKey} characters.`)
  const noted: NotedSelection = {
    ...(kinds && { kinds }),
    ...(exclude && { exclude }),
    ...(hash && { hash, keyCheck: checkOf(key ?? '') }),
    ...(body === false && { body }),
  }
  return Object.keys(noted).length === 0 ? undefined : noted
}

/**
 * @throws MirrorError when the copy was begun with another selection or key than what is given; nothing given goes
 * on.
 */
export function requireSame(
  noted: NotedSelection | undefined,
  given: Selection | undefined,
  key: string | undefined,
): void {
  const { keyCheck, ...held } = noted ?? {}
  if (given !== undefined) {
    const shown = (selection: Selection) => JSON.stringify(sorted(selection))
    if (shown(held) !== shown(given))
      throw new MirrorError(
        `The copy was begun with the selection ${JSON.stringify(held)}, which cannot be changed. Go on with that, or begin another in a schema or file of its own.`,
      )
  }
  if (keyCheck === undefined) return
  if (key === undefined) throw needsKey()
  if (checkOf(key) !== keyCheck)
    throw new MirrorError(
      'The key of hashes is another than that of the copy. Give the same, or begin another copy.',
    )
}

/** In one order, without what says nothing. */
function sorted({ kinds, exclude, hash, body }: Selection): Selection {
  const list = (items: readonly string[] | undefined) =>
    items?.length ? [...new Set(items)].sort() : undefined
  const lists = { kinds: list(kinds), exclude: list(exclude), hash: list(hash) }
  return {
    ...(lists.kinds && { kinds: lists.kinds }),
    ...(lists.exclude && { exclude: lists.exclude }),
    ...(lists.hash && { hash: lists.hash }),
    ...(body === false && { body }),
  }
}

const checkOf = (key: string) =>
  createHmac('sha256', key).update('deskwire mirror').digest('hex').slice(0, 16)

const needsKey = () =>
  new MirrorError('Hashed fields need a key, as emails can be guessed: DESKWIRE_HASH_KEY, or `hashKey`.')

const unknown = (what: string, name: string, names: readonly string[]) =>
  new MirrorError(`There is no ${what} ${JSON.stringify(clipped(name, 80))}; there are ${names.join(', ')}.`)
