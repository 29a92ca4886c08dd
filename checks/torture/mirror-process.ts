/** A mirror that follows until it is killed, and ends with its parent. */
import { Mirror, type Trouble } from '@deskwire/mirror'
import { createClient } from '@deskwire/sdk'
import { type Address, storeAt } from '../../packages/mirror/test/stores.ts'

export interface MirrorOrder {
  readonly baseUrl: string
  readonly apiKey: string
  readonly place: Address
}

export interface MirrorSays {
  readonly trouble: Trouble['type']
}

process.once('message', async ({ place, ...options }: MirrorOrder) => {
  const mirror = new Mirror({
    client: createClient(options),
    store: storeAt(place),
    history: true,
    onTrouble: ({ type }) => process.send?.({ trouble: type } satisfies MirrorSays),
    // Nothing is down for long here.
    sleep: (_, signal) => new Promise((resolve) => setTimeout(resolve, signal?.aborted ? 0 : 100)),
  })
  await mirror.follow()
})

process.on('disconnect', () => process.exit(0))
