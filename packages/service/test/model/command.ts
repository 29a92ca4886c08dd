/** What a command of the model-based test is, and what it is done to beside the model. */
import type fc from 'fast-check'
import type { TestClock } from '../../../testbed/clock.ts'
import type { Api } from '../../../testbed/service.ts'
import type { StreamModel } from './stream-model.ts'

/** The service under test; a restart replaces it. */
export interface Real {
  readonly api: Api
  readonly clock: TestClock
  restart(): Promise<void>
  /** Readers that wait at this moment. */
  waiting(): number
  /** The cursor of each follower, and the query of its last page. */
  readonly cursors: Map<number, { cursor: string; last: string }>
}

export type Command = fc.AsyncCommand<StreamModel, Real>

export function named(name: string, command: Omit<Command, 'toString'>): Command {
  return { ...command, toString: () => name }
}
