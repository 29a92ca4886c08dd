/** The end of a thread: it is kept in sight, or says what came behind it. What was out of sight is not seen. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Message } from '../desk/objects.ts'

interface ThreadEnd {
  /** Of the end of the messages. */
  readonly end: RefObject<HTMLDivElement | null>
  /** Of what floats above the thread at the bottom of the window. */
  readonly cover: RefObject<HTMLFormElement | null>
  /** Messages of the customer that came while the end was out of sight. */
  readonly unseen: readonly Message[]
  readonly goTo: () => void
}

/** Pixels. */
const tolerance = 24

/** `rows`: newest first. `startsElsewhere`: at a message that was searched. */
export function useThreadEnd(rows: readonly Message[], startsElsewhere: boolean): ThreadEnd {
  const end = useRef<HTMLDivElement>(null)
  const cover = useRef<HTMLFormElement>(null)
  const isInSight = useRef(!startsElsewhere)
  const newest = rows[0]?.createdAt
  const [seenUntil, setSeenUntil] = useState<string>()
  const goTo = useCallback(() => {
    if (end.current === null) return
    end.current.style.scrollMarginBlockEnd = `${(cover.current?.offsetHeight ?? 0) + tolerance}px`
    end.current.scrollIntoView({ block: 'nearest' })
  }, [])

  useLayoutEffect(() => {
    if (newest !== undefined && isInSight.current) goTo()
  }, [newest, goTo])
  useEffect(() => {
    if (newest === undefined) return
    const look = () => {
      const top = end.current?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY
      const bottom = cover.current?.getBoundingClientRect().top ?? window.innerHeight
      isInSight.current = top <= bottom + tolerance
      const isSeen = isInSight.current && document.visibilityState === 'visible'
      setSeenUntil((held) => (isSeen ? newest : (held ?? newest)))
    }
    look()
    const stop = new AbortController()
    for (const type of ['scroll', 'resize', 'visibilitychange'])
      window.addEventListener(type, look, { passive: true, capture: true, signal: stop.signal })
    return () => stop.abort()
  }, [newest])

  return {
    end,
    cover,
    unseen: rows.filter(
      ({ direction, createdAt }) =>
        direction === 'inbound' && seenUntil !== undefined && createdAt > seenUntil,
    ),
    goTo,
  }
}
