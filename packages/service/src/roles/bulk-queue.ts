/**
 * Which large request goes next to the thread that answers them (`bulk.ts`): organization by organization in turn, as many at once as
 * its memory takes.
 */

/** What waits for its turn. */
export interface BulkRequest {
  readonly organizationId: string
  /** Of its body. */
  readonly bytes: number
}

/** Requests in the thread at once: while one waits for the database another is read. */
export const bulkAtOnce = 6
/** Of one organization, so that one whose commits wait for its clock leaves room. */
const atOnceOfOne = 2

/**
 * Bytes of bodies in the thread at once, and of one organization's: reading, committing and answering a body takes ten times
 * its memory. What is larger goes alone.
 */
const bytesAtOnce = 24 * 1024 * 1024
const bytesOfOne = 16 * 1024 * 1024
/** Bytes that any body but a batch's has at most. */
const small = 1024 * 1024

export class BulkQueue<R extends BulkRequest> {
  readonly #begin: (request: R) => void
  /** Of each organization, those that wait, the first to come first. */
  readonly #queues = new Map<string, R[]>()
  /** Those in the thread. */
  readonly #underWay = new Set<R>()

  /** `begin` is called with each request when it is its turn, perhaps at once. */
  constructor(begin: (request: R) => void) {
    this.#begin = begin
  }

  /** Whether none is in the thread. */
  get isIdle(): boolean {
    return this.#underWay.size === 0
  }

  add(request: R): void {
    const queue = this.#queues.get(request.organizationId)
    if (queue === undefined) this.#queues.set(request.organizationId, [request])
    else queue.push(request)
    this.#pump()
  }

  /** It is not begun. False where it already was. */
  remove(request: R): boolean {
    const queue = this.#queues.get(request.organizationId) ?? []
    const at = queue.indexOf(request)
    if (at === -1) return false
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(request.organizationId)
    this.#pump()
    return true
  }

  /** It has been answered, or never will be. */
  end(request: R): void {
    this.#underWay.delete(request)
    this.#pump()
  }

  #pump(): void {
    for (let next = this.#takeNext(); next !== null; next = this.#takeNext()) {
      this.#underWay.add(next)
      this.#begin(next)
    }
  }

  /** The first of the organization that has waited longest for its turn and has room there. */
  #takeNext(): R | null {
    const there = [...this.#underWay]
    let held = false
    for (const [organizationId, queue] of this.#queues) {
      const [next] = queue
      if (next === undefined) continue
      // What is small may pass by one that waits for room, and there is always room for both.
      if (held && next.bytes > small) continue
      const own = there.filter((one) => one.organizationId === organizationId)
      if (!fits(next, own, atOnceOfOne, bytesOfOne)) continue
      if (!fits(next, there, bulkAtOnce, bytesAtOnce)) {
        held = true
        continue
      }
      queue.shift()
      // Back to the end of the line: a Map iterates in order of insertion.
      this.#queues.delete(organizationId)
      if (queue.length > 0) this.#queues.set(organizationId, queue)
      return next
    }
    return null
  }
}

/** Whether it may be there beside these; by itself it may. */
function fits(next: BulkRequest, beside: readonly BulkRequest[], count: number, bytes: number): boolean {
  if (beside.length === 0) return true
  const taken = beside.reduce((sum, one) => sum + one.bytes, 0)
  return beside.length < count && taken + next.bytes <= bytes
}
