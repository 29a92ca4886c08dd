/** A Map of at most `limit` entries that drops the least recently used entry. */
export class LruMap<K, V> extends Map<K, V> {
  readonly #limit: number
  /** The last that was set; it is at the end of the map, if it is in it. */
  #newest: K | undefined

  constructor(limit: number) {
    super()
    this.#limit = limit
  }

  override get(key: K): V | undefined {
    const value = super.get(key)
    if (value !== undefined && key !== this.#newest) this.set(key, value)
    return value
  }

  /** The value of the key, from `make` when there is none. */
  getOrMake(key: K, make: () => V): V {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  /** A Map iterates in insertion order, so the entry used last is inserted again at the end. */
  override set(key: K, value: V): this {
    if (key !== this.#newest) this.delete(key)
    this.#newest = key
    super.set(key, value)
    if (this.size > this.#limit) this.delete(this.keys().next().value as K)
    return this
  }
}
