/** What a folder under `screens/` declares: its path, its scope, and what the palette offers of it. */
import type { Caller } from '../session/caller.tsx'

/** An action of the palette. */
export interface Command {
  /** Unique among all. */
  readonly id: string
  readonly title: string
  /** Next to the title: a kind, a state. */
  readonly detail?: string
  readonly run: () => void
}

/** Goes to an address of the console. */
export type Go = (address: string) => void

export interface Screen {
  /** Where it begins: `/deliveries`. */
  readonly path: string
  readonly title: string
  /** Its heading in the sidebar. */
  readonly group: 'Delivery' | 'Desk' | 'Access'
  /** The scope to see it; null: any key may. */
  readonly scope: string | null
  /** What the palette offers in addition to the screen itself. */
  readonly commands?: (caller: Caller, go: Go) => readonly Command[]
  /** Search results for the palette, at most ten. Only called with the scope. */
  readonly find?: (words: string, go: Go, signal: AbortSignal) => Promise<readonly Command[]>
}
