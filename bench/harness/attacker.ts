/** Controls the attacker's process. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Arms, AttackName } from './attacks.ts'

export type AttackerOrder =
  | { readonly do: 'begin'; readonly attacks: readonly AttackName[]; readonly arms: Arms }
  | { readonly do: 'stop' }

export interface AttackerReport {
  /** Responses by status, and other outcomes. */
  readonly answers: Readonly<Record<string, number>>
}

interface Attacker extends AsyncDisposable {
  /** Ends the attacks, and returns the responses. */
  stop(): Promise<AttackerReport['answers']>
}

/** Starts all attacks at once. */
export async function startAttacker(attacks: readonly AttackName[], arms: Arms): Promise<Attacker> {
  const child = fork(new URL('./attacker-process.ts', import.meta.url))
  const ask = async (order: AttackerOrder): Promise<AttackerReport> => {
    const answered = once(child, 'message')
    child.send(order)
    const [report] = await answered
    return report as AttackerReport
  }
  await ask({ do: 'begin', attacks, arms })
  return {
    stop: async () => (await ask({ do: 'stop' })).answers,
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
