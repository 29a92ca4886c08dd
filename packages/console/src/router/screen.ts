/** What a folder under `screens/` declares: its path, its scope, and what the palette offers of it. */
import type { Caller } from '../session/caller.tsx'

/** A result or action of the palette. */
export interface Command {
  /** Unique among all. */
  readonly id: string
  readonly title: string
  /** Next to the title: a kind. */
  readonly detail?: string
  /** Below the title, to tell namesakes apart. */
  readonly about?: string
  /** The customer whose name is shown below the title. */
  readonly customerId?: string | null
  /** The words are its number, email address or id: it comes first. */
  readonly isNamed?: boolean
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
  /** Search results for the palette, at most four, and a way to all. Only called with the scope. */
  readonly find?: (words: string, go: Go, signal: AbortSignal) => Promise<readonly Command[]>
}
