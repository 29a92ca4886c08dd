/**
 * How much garbage a worker lets V8 leave lying. Payloads live for as long as receivers take, which is long for V8: left
 * to itself it lets old garbage reach several times what is in use. Collecting it sooner costs processor time (measured:
 * 15 µs a delivery, of 115), so it is done only once there is much (measured with ten thousand endpoints and a million
 * pending: 549 MB at most without it).
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Bytes of heap from which on garbage is collected sooner. */
const much = 160 * 1024 * 1024
/** Percent by which old objects may then grow before they are collected anew; V8 reads it at each collection. */
const growth = 40
const lookEvery = 250

/** Watches the heap of this process until disposed of. */
export function keepHeapSmall(): Disposable {
  let thrifty = false
  const look = () => {
    const isMuch = getHeapStatistics().total_heap_size > much
    if (isMuch === thrifty) return
    thrifty = isMuch
    // 0: as V8 likes.
    setFlagsFromString(`--heap-growing-percent=${thrifty ? growth : 0}`)
  }
  const timer = setInterval(look, lookEvery)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
