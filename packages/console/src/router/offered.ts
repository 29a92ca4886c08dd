/** What the shown screen can do with its object: its menu and buttons say so, and the palette lists it. */
import { useEffect, useId } from 'react'

export interface Action {
  /** A verb: `Rotate the secret`. */
  readonly title: string
  readonly run: () => void
  readonly isDangerous?: boolean
}

const offered = new Map<string, readonly Action[]>()

/** Offers them while the component is shown. */
export function useOffered(actions: readonly Action[]): void {
  const id = useId()
  useEffect(() => {
    offered.set(id, actions)
  })
  useEffect(() => () => void offered.delete(id), [id])
}

export function offeredActions(): readonly Action[] {
  return [...offered.values()].flat()
}
