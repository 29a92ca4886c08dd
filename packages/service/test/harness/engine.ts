/** An engine driven tick by tick: a moved clock, a real database, and receivers that are scripted functions. */

import type { Send } from '../../src/delivery/attempt.ts'
import { createEngine, type Engine } from '../../src/delivery/engine.ts'
import { createLanes, type Lanes } from '../../src/delivery/lanes.ts'
import { type DeliveryObserver, nobodyObserves } from '../../src/delivery/observer.ts'
import type { DeliverySchedule } from '../../src/delivery/schedule.ts'
import { createSigner } from '../../src/delivery/signer.ts'
import type { SlotLimits } from '../../src/delivery/slots.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { kinds } from '../../src/resources/index.ts'
import { createSecretBox } from '../../src/webhooks/secrets.ts'
import { deliverySettings } from './delivery-settings.ts'
import type { TestService } from './service.ts'

/** A request as a receiver sees it. */
export interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly at: number
}

export interface TestEngine {
  readonly engine: Engine
  readonly lanes: Lanes
  readonly sent: Sent[]
  /** What the next requests are answered; the last goes on. */
  answer(...statuses: readonly number[]): void
}

/** An engine on the service's database whose requests are answered by script, 200 unless told. */
export function testEngine(
  service: TestService,
  clock: Clock,
  options: {
    readonly send?: Send
    readonly schedule?: DeliverySchedule
    readonly slots?: SlotLimits
    readonly observer?: DeliveryObserver
    /** What its turns are to do with the lanes. */
    readonly through?: (lanes: Lanes) => Lanes
  } = {},
): TestEngine {
  const sent: Sent[] = []
  let script: number[] = [200]
  const scripted: Send = async (request) => {
    sent.push({ ...request, at: clock.now() })
    const status = script.length > 1 ? (script.shift() as number) : (script[0] as number)
    return { kind: 'answered', status, responseBody: `answered ${status}`, durationMs: 5 }
  }
  const box = createSecretBox(deliverySettings.encryptionKey)
  const signer = createSigner(box.open)
  const lanes = createLanes(
    service.database.pool,
    kinds.map((kind) => kind.table),
  )
  const engine = createEngine(
    {
      lanes: options.through?.(lanes) ?? lanes,
      send: options.send ?? scripted,
      signerOf: (taken) => signer(taken.endpoint.sealedSecrets, taken),
      scopeOf: (subjectKind) => {
        const kind = kinds.find(({ name }) => name === subjectKind)
        return kind === undefined ? null : `${kind.plural}:read`
      },
      clock,
      schedule: options.schedule ?? deliverySettings.schedule,
      log: service.app.server.log,
      observer: options.observer ?? nobodyObserves,
    },
    options.slots === undefined ? {} : { slots: options.slots },
  )
  return {
    engine,
    lanes,
    sent,
    answer(...statuses) {
      script = [...statuses]
    },
  }
}
