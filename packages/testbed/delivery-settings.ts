import type { DeliverySettings } from '../service/src/delivery/model.ts'
import { noNetworks, parseNetworks } from '../service/src/kernel/networks.ts'
import type { SummarySettings } from '../service/src/summarizer/summarizer.ts'

const hour = 3_600_000

/** The defaults, with receivers on the loopback allowed. */
export const deliverySettings: DeliverySettings = {
  schedule: {
    retryDelays: [60_000, 300_000, 1_800_000, 2 * hour, 8 * hour],
    disableAfter: 72 * hour,
    answerTimeout: 10_000,
  },
  rotationOverlap: 24 * hour,
  logRetention: 30 * 24 * hour,
  encryptionKey: Buffer.alloc(32, 7),
  encryptionKeyPrevious: null,
  trustedTargets: parseNetworks('127.0.0.0/8') ?? noNetworks,
  targetCa: null,
  egressProxy: null,
  dnsServers: null,
}

/** For summaries. */
export const summarySettings: SummarySettings = { delay: 120_000, endpoint: null }
