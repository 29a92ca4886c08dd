/** Whether the service answers, as the last call found; and since when the page shows what it had. */
import { useSyncExternalStore } from 'react'

let lastAnswer = Date.now()
let lostSince: number | null = null
const listeners = new Set<() => void>()

function become(next: number | null): void {
  if (lostSince === next) return
  lostSince = next
  for (const listener of listeners) listener()
}

export function sayConnected(): void {
  lastAnswer = Date.now()
  become(null)
}

export function sayLost(): void {
  become(lostSince ?? lastAnswer)
}

/** Returns what ends it. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The time of the last answer, in milliseconds; null while the service answers. */
export function useLostSince(): number | null {
  return useSyncExternalStore(onConnection, () => lostSince)
}

export function isLost(): boolean {
  return lostSince !== null
}
