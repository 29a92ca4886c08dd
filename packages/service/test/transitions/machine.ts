/** A kind's states and moves (specification 4), written down without a look at the code. */
import type { Answer, Api } from '../../../testbed/service.ts'

/** What an object stands on: the organization's key, somebody to assign to, and a way to let time pass. */
export interface Stage {
  readonly api: Api
  readonly teammateId: string
  advance(milliseconds: number): void
}

export type Move = (stage: Stage, id: string) => Promise<Answer>

/**
 * What a move comes to: the state after it and the events it causes, as one line (`open: ticket.updated`); or, with
 * `refused`, the 409 it is answered with and the words that its detail has to have.
 */
export type Cell = string | { readonly refused: string; readonly names: readonly string[] }

export interface Machine {
  readonly kind: string
  readonly plural: string
  /** The state of an object as the tables call it. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the object has; a wrong guess fails the test
  stateOf(object: any): string
  /** Makes an object in that state, over HTTP, and answers with its id. */
  readonly states: Readonly<Record<string, (stage: Stage) => Promise<string>>>
  readonly moves: Readonly<Record<string, Move>>
  /** By state and move. */
  readonly table: Readonly<Record<string, Readonly<Record<string, Cell>>>>
}

/** A move that goes through, from a state that was reached on the way. */
export async function must(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer
  if (status >= 300) throw new Error(`${status} ${text}`)
}

/** Refused as a move that the state does not allow: the detail names the state and what can be done from it. */
export const no = (state: string, ...allowed: readonly string[]): Cell => ({
  refused: 'invalid_transition',
  names: [state, ...(allowed.length === 0 ? ['none'] : allowed)],
})
