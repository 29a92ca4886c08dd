/**
 * The list of changes, newest first. Only visible rows are rendered, so that a hundred changes a second cost no more
 * than one. While the user reads further down, nothing moves, and new changes wait behind a count.
 */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Json } from '../../design/code.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { NoMatch } from '../../design/states.tsx'
import { Sign, type Tone } from '../../design/status.tsx'
import { locale, sayExact } from '../../design/time.tsx'
import type { Entry } from './entries.ts'
import css from './stream.module.css'

/** Pixels. */
const rowHeight = 32
const height = 416
/** Rows beyond the visible part that are rendered. */
const margin = 6

const tones: Readonly<Record<Entry['what'], Tone>> = { created: 'good', changed: 'quiet', removed: 'bad' }
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })

interface StreamProps {
  /** Newest last. */
  readonly entries: readonly Entry[]
  readonly kind: string | undefined
  readonly what: string | undefined
  readonly clearFilters: () => void
}

export function Stream({ entries, kind, what, clearFilters }: StreamProps) {
  const [top, setTop] = useState(0)
  /** The newest that is shown while the user has scrolled down; null while it is live. */
  const [newestShown, setNewestShown] = useState<number | null>(null)
  const [active, setActive] = useState<number | null>(null)
  const [opened, setOpened] = useState<Entry | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const wantsFocus = useRef(false)

  const matching = useMemo(
    () =>
      entries.filter(
        (entry) => (kind === undefined || entry.kind === kind) && (what === undefined || entry.what === what),
      ),
    [entries, kind, what],
  )
  const shown = useMemo(
    () => (newestShown === null ? matching : matching.filter(({ n }) => n <= newestShown)).toReversed(),
    [matching, newestShown],
  )
  const waiting = matching.length - shown.length
  const newest = entries.at(-1)?.n ?? 0

  function hold(): void {
    setNewestShown((held) => held ?? newest)
  }
  function release(): void {
    setNewestShown(null)
    setActive(null)
    setTop(0)
    if (box.current !== null) box.current.scrollTop = 0
  }

  const first = Math.max(0, Math.floor(top / rowHeight) - margin)
  const drawn = shown.slice(first, Math.ceil((top + height) / rowHeight) + margin)
  const reachable = drawn.some(({ n }) => n === active) ? active : (drawn[0]?.n ?? null)

  useEffect(() => {
    if (!wantsFocus.current || active === null) return
    wantsFocus.current = false
    box.current?.querySelector<HTMLElement>(`[data-n="${active}"]`)?.focus({ preventScroll: true })
  })

  function onKeyDown(event: KeyboardEvent): void {
    const at = shown.findIndex(({ n }) => n === reachable)
    const page = Math.floor(height / rowHeight)
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: shown.length - 1,
    }[event.key]
    if (next === undefined || box.current === null) return
    event.preventDefault()
    const index = Math.min(Math.max(next, 0), shown.length - 1)
    const entry = shown[index]
    if (entry === undefined) return
    hold()
    setActive(entry.n)
    wantsFocus.current = true
    const from = index * rowHeight
    const { scrollTop } = box.current
    const into = from < scrollTop ? from : Math.max(scrollTop, from + rowHeight - height)
    box.current.scrollTop = into
    setTop(into)
  }

  if (entries.length === 0) {
    return <p className={css.none}>No changes yet. New changes appear here.</p>
  }
  if (matching.length === 0) return <NoMatch clear={clearFilters} />
  return (
    <div className={css.stream}>
      <div className={css.news} role="status">
        {newestShown !== null && (
          <Button size="s" kind="primary" className={css.pill} onClick={release}>
            {waiting === 0 ? 'Resume live' : `${waiting.toLocaleString('en')} new`}
          </Button>
        )}
      </div>
      <div
        ref={box}
        className={css.box}
        style={{ height: Math.min(height, shown.length * rowHeight) }}
        onScroll={({ currentTarget: { scrollTop } }) => {
          setTop(scrollTop)
          if (scrollTop > rowHeight / 2) hold()
        }}
      >
        <ol
          className={css.wire}
          style={{ height: shown.length * rowHeight }}
          aria-label="Changes, newest first"
        >
          {drawn.map((entry, i) => (
            <li
              key={entry.n}
              style={{ transform: `translateY(${(first + i) * rowHeight}px)` }}
              data-what={entry.what}
            >
              <button
                type="button"
                data-n={entry.n}
                tabIndex={entry.n === reachable ? 0 : -1}
                onFocus={() => {
                  setActive(entry.n)
                  hold()
                }}
                onKeyDown={onKeyDown}
                onClick={() => {
                  hold()
                  setOpened(entry)
                }}
              >
                <Sign tone={tones[entry.what]} />
                <time dateTime={entry.at} title={sayExact(Date.parse(entry.at))} className="number">
                  {clock.format(Date.parse(entry.at))}
                </time>
                <span className={css.what}>
                  {entry.kind} {entry.what}
                </span>
                <span className={css.label}>{entry.label}</span>
                <code>…{entry.id.slice(-8)}</code>
              </button>
            </li>
          ))}
        </ol>
      </div>
      <Dialog
        isOpen={opened !== null}
        close={() => setOpened(null)}
        isWide
        title={opened === null ? '' : `${opened.kind} ${opened.what}`}
        about={
          opened?.what === 'removed'
            ? 'The stream has a record for each removal, so no copy misses one.'
            : 'The row as it was on this page of the stream.'
        }
      >
        {opened !== null && <Json label={`Change ${opened.n}`} value={opened.record} />}
      </Dialog>
    </div>
  )
}
