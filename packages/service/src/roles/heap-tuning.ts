/**
 * Limits the garbage in the heap of a worker or of the offload thread; V8's flag is of the whole process. Payloads live
 * as long as receivers take to respond, which V8 counts as long-lived, and it lets old garbage grow to several times
 * the live data. Collecting sooner costs processor time, so the limit is stricter for large heaps.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { periodic } from '../kernel/periodic.ts'

const much = 136 * 1024 * 1024
/**
 * Percent by which old objects may grow before a collection. V8 reads it only after one, so a small heap needs a limit
 * too.
 */
const growth = { little: 100, much: 40 }
const checkEvery = 250

export function tuneHeap(): Disposable {
  let growing: number | null = null
  const adjust = () => {
    const wanted = getHeapStatistics().total_heap_size > much ? growth.much : growth.little
    if (growing !== wanted) setFlagsFromString(`--heap-growing-percent=${wanted}`)
    growing = wanted
  }
  const adjusting = periodic({
    every: checkEvery,
    stopWithin: 0,
    run: adjust,
    // V8 accepts these flags at run time.
    onFailure(error) {
      throw error
    },
  })
  adjusting.start()
  return { [Symbol.dispose]: () => void adjusting.stop() }
}
