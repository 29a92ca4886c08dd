/** Supervises a worker whose database does not answer, in a process with few file descriptors. Told by its parent. */
import { closeSync, openSync } from 'node:fs'
import pino from 'pino'
import { deliverySettings, summarySettings } from '../../../testbed/delivery-settings.ts'
import { logOptions } from '../../src/kernel/log.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { superviseWorker } from '../../src/roles/supervise.ts'

const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // There are no more: nothing can be forked.
}
const log = pino(logOptions, { write: (line) => process.send?.(JSON.parse(line)) })
const address = { url: 'postgres://nobody@127.0.0.1:1/nothing' }
const worker = superviseWorker(
  { settings: deliverySettings, summaries: summarySettings, logLevel: 'silent' },
  [{ name: null, address, ready: Promise.resolve() }],
  { log, clock: systemClock, releaseLeases: async () => 0 },
)

process.on('message', async (what) => {
  if (what === 'give them back') for (const descriptor of taken.splice(0)) closeSync(descriptor)
  if (what === 'stop') {
    await worker.stop()
    process.disconnect?.()
  }
})
