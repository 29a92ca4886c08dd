/** A process that sends once and prints how it ended; then it asks `fetch` for the same, which does as the environment says. */
import { text } from 'node:stream/consumers'
import { createResolver } from '../../src/delivery/send/resolver.ts'
import { createSender } from '../../src/delivery/send/send.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'

const [url = ''] = process.argv.slice(2)
const targetCa = await text(process.stdin)
const trusted = parseNetworks('127.0.0.1') ?? noNetworks
const resolver = createResolver({ servers: null, trusted, clock: systemClock })
const sender = createSender({ resolver, clock: systemClock, answerTimeoutMs: 20_000, targetCa })
const outcome = await sender.send({ organizationId: 'one', url, headers: {}, body: '{}' })
sender.close()
resolver.close()
await fetch(url).catch(() => {})
console.log(JSON.stringify(outcome))
