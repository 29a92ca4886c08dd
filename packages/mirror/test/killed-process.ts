/** A mirror that kills its process at the step of its store that comes after one. */
import { createClient } from '@deskwire/sdk'
import { Mirror } from '../src/index.ts'
import { hooked } from './hooked.ts'
import { type Address, storeAt } from './stores.ts'

export interface KilledOrder {
  readonly baseUrl: string
  readonly apiKey: string
  readonly place: Address
  readonly step: string
}

const { baseUrl, apiKey, place, step }: KilledOrder = JSON.parse(process.argv[2] ?? '{}')
/** The statement goes to the database first, so that there is something to be undone. */
let isNext = false
const store = hooked(storeAt(place), (at) => {
  if (isNext) process.kill(process.pid, 'SIGKILL')
  isNext = at === step
})
const mirror = new Mirror({ client: createClient({ baseUrl, apiKey }), store })
await mirror.catchUp()
