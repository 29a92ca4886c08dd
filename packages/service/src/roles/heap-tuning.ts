/**
 * How much garbage a worker lets V8 leave lying. Payloads live for as long as receivers take, which is long for V8: left
 * to itself it lets old garbage reach several times what is in use. Collecting it sooner costs processor time, so it is
 * done sooner the more there is. Measured with ten thousand endpoints and a million pending, and with a backlog that is
 * drained: 549 MB at most without any of this; 421 MB, and 15 µs more a delivery, of 115, where little was always too much.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { periodic } from '../kernel/periodic.ts'

/** Bytes of heap that are much. */
const much = 136 * 1024 * 1024
/**
 * Percent by which old objects may grow before they are collected again. V8 reads it after a collection, for the next
 * one: so what is little must not be let grow by as much as V8 likes either, or it is much before anybody can say so.
 */
const growth = { little: 100, much: 40 }
/** In milliseconds. */
const lookEvery = 250

/** Watches the heap of this process until disposed of. */
export function tuneHeap(): Disposable {
  let growing: number | null = null
  const look = () => {
    const wanted = getHeapStatistics().total_heap_size > much ? growth.much : growth.little
    if (growing !== wanted) setFlagsFromString(`--heap-growing-percent=${wanted}`)
    growing = wanted
  }
  const looking = periodic({
    every: lookEvery,
    stopWithin: 0,
    run: look,
    // V8 refuses none of this.
    onFailure(error) {
      throw error
    },
  })
  looking.start()
  return { [Symbol.dispose]: () => void looking.stop() }
}
