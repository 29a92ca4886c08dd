/** What a folder under `screens/` says of its screen: where it is, who may see it, and what the palette can do with it. */
import type { Caller } from '../session/caller.tsx'

/** Something that the palette does. */
export interface Command {
  /** Unique among all. */
  readonly id: string
  /** What it does or leads to. */
  readonly title: string
  /** What accompanies the title: a kind, a state. */
  readonly detail?: string
  readonly run: () => void
}

/** Goes to an address of the console. */
export type Go = (address: string) => void

export interface Screen {
  /** Where it begins: `/deliveries`. */
  readonly path: string
  readonly title: string
  /** Under which heading of the sidebar. */
  readonly group: 'Delivery' | 'Desk' | 'Access'
  /** What a key needs to see it; null when any key may. */
  readonly scope: string | null
  /** What the palette offers beside the screen itself, for this caller. */
  readonly commands?: (caller: Caller, go: Go) => readonly Command[]
  /** What the palette finds for words that somebody types; at most some ten. Only asked of callers who have the scope. */
  readonly find?: (words: string, go: Go, signal: AbortSignal) => Promise<readonly Command[]>
}
