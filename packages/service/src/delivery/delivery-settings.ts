/** What an operator sets of deliveries. */
import type { Networks } from '../kernel/networks.ts'
import type { DeliverySchedule } from './model.ts'

/** The settings of deliveries. Durations in milliseconds. */
export interface DeliverySettings {
  readonly schedule: DeliverySchedule
  readonly rotationOverlap: number
  readonly logRetention: number
  readonly encryptionKey: Buffer
  readonly trustedTargets: Networks
  /** PEM. */
  readonly targetCa: string | null
  readonly dnsServers: readonly string[] | null
}
