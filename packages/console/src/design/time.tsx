/** Times: relative, with the exact time in the user's time zone on hover. */
import { useEffect, useState, useSyncExternalStore } from 'react'

const relative = new Intl.RelativeTimeFormat('en', { style: 'short' })
/** The console is English, and so are its dates, with 24 hours as in logs. */
export const locale = 'en-GB'
const exact = new Intl.DateTimeFormat(locale, {
  dateStyle: 'medium',
  timeStyle: 'long',
})

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** `3 min. ago`, `in 2 hr.`, `now`. */
function sayRelative(at: number, now: number): string {
  const seconds = (at - now) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return Math.abs(seconds) < 5 ? 'now' : relative.format(Math.trunc(seconds), 'second')
}

/** In the user's time zone, to the second. */
export function sayExact(at: number): string {
  return exact.format(at)
}

/** One clock for all times of a page. It ticks once a second while the page is visible. */
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    if (document.hidden) return
    now = Date.now()
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** In milliseconds since the Unix epoch, updated each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** A time of the API. */
export function Time({ at }: { readonly at: string }) {
  const moment = Date.parse(at)
  // A time renders again only when its text changes.
  const words = useSyncExternalStore(subscribe, () => sayRelative(moment, Math.max(now, Date.now() - 1000)))
  return (
    <time dateTime={at} title={sayExact(moment)}>
      {words}
    </time>
  )
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

/** The time of a day that is named elsewhere: `14:02`. */
export function Clock({ at }: { readonly at: string }) {
  const moment = Date.parse(at)
  return (
    <time dateTime={at} title={sayExact(moment)} className="number">
      {clock.format(moment)}
    </time>
  )
}

/** Counts down: `4 min 10 s`; `now` at the end. */
export function Countdown({ to }: { readonly to: string }) {
  const left = Math.max(0, Math.round((Date.parse(to) - useNow()) / 1000))
  return (
    <time dateTime={to} title={sayExact(Date.parse(to))} className="number">
      {left === 0 ? 'now' : sayDuration(left)}
    </time>
  )
}

/** At most two units: `2 d 3 h`, `4 min 10 s`. */
export function sayDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** `212 ms`, `1.4 s`. */
export function sayMilliseconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

/** Whether so many milliseconds have passed since this was first shown. */
export function useDelay(milliseconds: number): boolean {
  const [hasPassed, setPassed] = useState(false)
  useEffect(() => {
    const waiting = setTimeout(() => setPassed(true), milliseconds)
    return () => clearTimeout(waiting)
  }, [milliseconds])
  return hasPassed
}
