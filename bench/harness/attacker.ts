/** The attacker's process, from the side of the benchmark. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Arms, AttackName } from './attacks.ts'

export type AttackerOrder =
  | { readonly do: 'begin'; readonly attacks: readonly AttackName[]; readonly arms: Arms }
  | { readonly do: 'stop' }

export interface AttackerReport {
  /** How often each status came, and what else became of requests. */
  readonly answers: Readonly<Record<string, number>>
}

interface Attacker extends AsyncDisposable {
  /** Ends what is under way, and says what it was answered. */
  stop(): Promise<AttackerReport['answers']>
}

/** Begins the attacks, all at once. */
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
